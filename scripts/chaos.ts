import { vitest } from "./vitest.ts";

/**
 * `npm run chaos`: kills at random for ten minutes, stops Postgres for two minutes, and kills each role under runs of workflows.
 * `npm run test:soak` stops Postgres for 20 s only.
 * Change that with HEADWATER_TEST_CHAOS_SECONDS, HEADWATER_TEST_CHAOS_OUTAGE_SECONDS and HEADWATER_TEST_CHAOS_SEED. The seed is printed.
 */
const env = { HEADWATER_TEST_CHAOS_SECONDS: "600", HEADWATER_TEST_CHAOS_OUTAGE_SECONDS: "120", ...process.env };

const files = ["deliveries-continue-while-postgres-is-down", "workflow-runs-survive-crashes"].map(
  (name) => `test/e2e/${name}.soak.test.ts`,
);
process.exitCode = (await vitest(["run", ...files], env)) ?? 1;
