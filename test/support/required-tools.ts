/** @throws if HEADWATER_TEST_REQUIRE_TOOLS is 1: tests then fail instead of being skipped */
export function reportMissing(missing: string, env: NodeJS.ProcessEnv = process.env): void {
  if (env["HEADWATER_TEST_REQUIRE_TOOLS"] === "1") throw new Error(`${missing}: HEADWATER_TEST_REQUIRE_TOOLS=1 requires it`);
}
