import { checks, runChecks } from "./checks.ts";
import { orderVariable } from "./vitest-sequencer.ts";
import { printCpuTime, printFailures, printOrders, runTests, tallyLine, vitest } from "./vitest.ts";

/**
 * `npm test [-- --fast | --all [--rest] | --soak | --watch | --in-order] [files]`: checks the source and runs the tests, both at once, then prints one
 * line that counts both. A file's name says which command runs it, test/README.md which belongs where:
 *
 * - without a flag: `*.test.ts`, what a contributor runs before each commit
 * - `--all`: these and `*.full.test.ts`; with `--rest` only the latter
 * - `--soak`: `*.soak.test.ts`, long by nature
 * - `--fast`: the files that start neither servers nor isolates
 * - `--watch`: reruns the tests that a change affects
 * - `--in-order`: the named files in their order, in one process, as a failed run prints it
 *
 * Named files run without the checks.
 */
const knownFlags = ["--fast", "--all", "--rest", "--soak", "--watch", "--in-order"];

const args = process.argv.slice(2);
const flags = args.filter((argument) => argument.startsWith("--"));
const files = args.filter((argument) => !argument.startsWith("--"));
const unknown = flags.filter((flag) => !knownFlags.includes(flag));
if (unknown.length > 0) {
  console.error(`${unknown.join(" ")} is not a flag of npm test: use ${knownFlags.join(", ")}, or names of test files`);
  process.exit(2);
}
const has = (flag: string): boolean => flags.includes(flag);
process.exitCode = has("--watch") ? await watch() : await testOnce();

async function testOnce(): Promise<number> {
  const checksSource = files.length === 0 && !has("--soak") && !has("--rest");
  const [source, tests] = await Promise.all([runChecks(checksSource ? checks : []), runTests(selection(), environment())]);
  for (const { output } of source.failures) console.log(output);
  const failures = [...source.failures.map(({ name }) => ({ name, message: "see above" })), ...tests.failures];
  if (files.length === 0) printCpuTime(tests.files);
  printOrders(tests.files);
  printFailures(failures);
  console.log(tallyLine({ passed: source.passed + tests.passed, failed: source.failures.length + tests.failed, skipped: tests.skipped }));
  return failures.length === 0 ? 0 : 1;
}

async function watch(): Promise<number> {
  return (await vitest(["watch", ...selection()], environment())) ?? 1;
}

/** Arguments of vitest. */
function selection(): string[] {
  return [...projects().map((name) => `--project=${name}`), ...files];
}

/** Names of projects of vitest.config.ts. */
function projects(): string[] {
  if (has("--soak") || files.some((file) => file.includes(".soak."))) return ["soak"];
  if (files.length > 0) return ["!soak"];
  if (has("--fast")) return ["pure"];
  if (has("--rest")) return ["full"];
  return ["pure", "isolates", "servers", ...(has("--all") ? ["full"] : [])];
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    // Fast tests need no database: none is started for them.
    ...(has("--fast") ? { HEADWATER_TEST_POSTGRES: "none" } : {}),
    ...(has("--in-order") ? { [orderVariable]: files.join(" ") } : {}),
  };
}
