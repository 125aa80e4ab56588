import { vitest } from "./vitest.ts";

/**
 * `npm run chaos`: kills at random for ten minutes, and takes Postgres away for two; `npm test` only takes it away, for 20 s.
 * HEADWATER_TEST_CHAOS_SECONDS, HEADWATER_TEST_CHAOS_OUTAGE_SECONDS and HEADWATER_TEST_CHAOS_SEED say otherwise; the seed is printed.
 */
const env = { HEADWATER_TEST_CHAOS_SECONDS: "600", HEADWATER_TEST_CHAOS_OUTAGE_SECONDS: "120", ...process.env };

process.exitCode = (await vitest(["run", "test/e2e/deliveries-continue-while-postgres-is-down.soak.test.ts"], env)) ?? 1;
