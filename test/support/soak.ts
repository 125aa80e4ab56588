/** Whether this is the project `soak` of vitest.config.ts: `npm run test:soak`. */
export const isSoak = process.env["HEADWATER_TEST_SOAK"] === "1";

/** All cases in `npm run test:soak`; in `npm test` the first of every `step`. */
export function sampleCases<Case>(cases: readonly Case[], step: number): Case[] {
  return isSoak ? [...cases] : cases.filter((_, index) => index % step === 0);
}
