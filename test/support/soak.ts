/** Whether this is the project `soak` of vitest.config.ts: `npm run test:soak`. */
export const isSoak = process.env["HEADWATER_TEST_SOAK"] === "1";
