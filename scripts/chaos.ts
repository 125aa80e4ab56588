import { vitest } from "./vitest.ts";

/**
 * `npm run chaos`: kills at random for ten minutes, and stops Postgres for two minutes; `npm run test:soak` only stops it, for 20 s.
 * Change that with HEADWATER_TEST_CHAOS_SECONDS, HEADWATER_TEST_CHAOS_OUTAGE_SECONDS and HEADWATER_TEST_CHAOS_SEED. The seed is printed.
 */
const env = { HEADWATER_TEST_CHAOS_SECONDS: "600", HEADWATER_TEST_CHAOS_OUTAGE_SECONDS: "120", ...process.env };

process.exitCode = (await vitest(["run", "test/e2e/deliveries-continue-while-postgres-is-down.soak.test.ts"], env)) ?? 1;
