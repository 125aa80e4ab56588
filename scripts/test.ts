import { checks, runChecks } from "./checks.ts";
import { printFailures, runTests, tallyLine, vitest } from "./vitest.ts";

/**
 * `npm test [-- --fast | --soak | --watch] [files]`: checks the source and runs the tests, both at once, then prints one line
 * that counts both. `--fast` runs the files that start neither servers nor isolates, `--soak` runs only the tests that are long by nature
 * (`*.soak.test.ts`), `--watch` reruns the tests that a change affects. Named files run without the checks.
 */
const knownFlags = ["--fast", "--soak", "--watch"];

const args = process.argv.slice(2);
const flags = args.filter((argument) => argument.startsWith("--"));
const files = args.filter((argument) => !argument.startsWith("--"));
const unknown = flags.filter((flag) => !knownFlags.includes(flag));
if (unknown.length > 0) {
  console.error(`${unknown.join(" ")} is not a flag of npm test: use ${knownFlags.join(", ")}, or names of test files`);
  process.exit(2);
}
const isFast = flags.includes("--fast");
const isSoak = flags.includes("--soak");
process.exitCode = flags.includes("--watch") ? await watch() : await testOnce();

async function testOnce(): Promise<number> {
  const isWhole = files.length === 0 && !isSoak;
  const [source, tests] = await Promise.all([runChecks(isWhole ? checks : []), runTests(selection(), environment())]);
  for (const { output } of source.failures) console.log(output);
  const failures = [...source.failures.map(({ name }) => ({ name, message: "see above" })), ...tests.failures];
  printFailures(failures);
  console.log(tallyLine({ passed: source.passed + tests.passed, failed: source.failures.length + tests.failed, skipped: tests.skipped }));
  return failures.length === 0 ? 0 : 1;
}

async function watch(): Promise<number> {
  return (await vitest(["watch", ...selection()], environment())) ?? 1;
}

/** Arguments of vitest. */
function selection(): string[] {
  const named = isSoak || files.some((file) => file.includes(".soak.")) ? "soak" : "!soak";
  return [`--project=${isFast && files.length === 0 ? "pure" : named}`, ...files];
}

/** Fast tests need no database: none is started for them. */
function environment(): NodeJS.ProcessEnv {
  return isFast ? { ...process.env, HEADWATER_TEST_POSTGRES: "none" } : process.env;
}
