import { expect, test } from "vitest";
import { defaultApiConfig } from "../../../api/config.ts";

/** Proxies such as nginx give up after this time, unless they are configured. */
const proxyTimeoutMs = 60_000;

test("every wait of a request ends before a proxy gives up", () => {
  const { deployTimeoutMs, deletionTimeoutMs, runTimeoutMs, recordTimeoutMs } = defaultApiConfig;
  expect(Math.max(deployTimeoutMs, deletionTimeoutMs, runTimeoutMs + recordTimeoutMs)).toBeLessThan(proxyTimeoutMs);
});
