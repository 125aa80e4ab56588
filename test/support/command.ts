/** Whether this is the project `soak` of vitest.config.ts: `npm run test:soak`. */
export const isSoak = process.env["HEADWATER_TEST_SOAK"] === "1";

/** Whether this is the project `full` of vitest.config.ts, which `npm run test:all` runs. */
export const isFull = process.env["HEADWATER_TEST_FULL"] === "1";

/** The cases of a table that this command runs: all in the project `full`, else the first ones. */
export const sampleOf = <T>(cases: readonly T[], count = 1): readonly T[] => (isFull ? cases : cases.slice(0, count));
