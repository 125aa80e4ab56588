import { checks, runChecks } from "./checks.ts";
import { runTests, tallyLine, tellFailures, vitest } from "./vitest.ts";

/**
 * `npm test [-- --fast | --watch] [files]`: the checks of the source, then the tests, then one line that counts both.
 * `--fast` leaves out what starts servers, `--watch` runs again what a change touches. Named files run alone.
 */
const fastFolders = ["test/domain", "test/crds", "test/architecture.test.ts"];

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = flags.filter((flag) => !["--fast", "--watch"].includes(flag));
if (unknown.length > 0) {
  console.error(`${unknown.join(" ")} is no flag of the tests: there are --fast and --watch, and names of files`);
  process.exit(2);
}
const fast = flags.includes("--fast");
const wanted = named.length > 0 ? named : fast ? fastFolders : [];
process.exitCode = flags.includes("--watch") ? await watch() : await testOnce();

async function testOnce(): Promise<number> {
  const source = named.length > 0 ? { passed: 0, failures: [] } : await runChecks(checks);
  const tests = await runTests(wanted, environment());
  const passed = source.passed + tests.passed;
  const failed = source.failures.length + tests.failed;
  tellFailures({ failures: [...source.failures.map((what) => ({ what, why: "see above" })), ...tests.failures], unsteady: tests.unsteady });
  console.log(tallyLine({ passed, failed, skipped: tests.skipped }));
  return failed === 0 ? 0 : 1;
}

async function watch(): Promise<number> {
  return (await vitest(["watch", ...wanted], environment())) ?? 1;
}

/** Fast tests need no database, so none is started for them. */
function environment(): NodeJS.ProcessEnv {
  return fast ? { ...process.env, HEADWATER_TEST_POSTGRES: "none" } : process.env;
}
