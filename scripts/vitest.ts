import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { z } from "zod";
import { root } from "./checks.ts";

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  /** Test file and test name, or the name of a check. */
  readonly name: string;
  /** First line of the error message. */
  readonly message: string;
}

export interface TestRun extends Tally {
  readonly failures: readonly Failure[];
}

const maxLineLength = 300;

const reportSchema = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().default(""),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() })),
    }),
  ),
});
type Report = z.infer<typeof reportSchema>;

/**
 * Runs the tests once, shows their output and counts them.
 *
 * @param args arguments of vitest, without reporters
 */
export async function runTests(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<TestRun> {
  const directory = mkdtempSync(join(tmpdir(), "headwater-report-"));
  const file = join(directory, "report.json");
  try {
    const code = await vitest(["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args], env);
    return countTests(reportSchema.parse(JSON.parse(readFileSync(file, "utf8"))), code === 0);
  } catch (error) {
    const message = `vitest wrote no valid report: ${error instanceof Error ? error.message : String(error)}`;
    return { passed: 0, failed: 1, skipped: 0, failures: [{ name: "vitest", message }] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Prints one line per failure. The details were printed when it happened, far above. */
export function printFailures(failures: readonly Failure[]): void {
  for (const { name, message } of failures) console.log(`✗ ${name}: ${message}`.slice(0, maxLineLength));
}

/** The last line of every command that counts tests. */
export const tallyLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** A run also fails without a failed test: when a file does not load, or when vitest finds an unhandled error. */
function countTests(report: Report, exitedWithZero: boolean): TestRun {
  const failures = failuresOf(report);
  const statuses = report.testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  if (failures.length === 0 && !(report.success && exitedWithZero))
    failures.push({ name: "vitest", message: "an error outside of the tests, see above" });
  return {
    passed: statuses.filter((status) => status === "passed").length,
    failed: failures.length,
    skipped: statuses.filter((status) => status !== "passed" && status !== "failed").length,
    failures,
  };
}

function failuresOf({ testResults }: Report): Failure[] {
  return testResults.flatMap(({ name, message, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    // A file that does not load has no tests.
    const failed = status === "failed" && tests.length === 0 ? [{ fullName: "", failureMessages: [message] }] : tests;
    return failed.map(({ fullName, failureMessages }) => ({
      name: `${relative(root, name)} ${fullName}`.trim(),
      message: failureMessages?.[0]?.split("\n")[0] ?? "",
    }));
  });
}

/** Starts vitest and resolves with its exit code, or undefined when it cannot be started. */
export function vitest(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number | undefined> {
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, ["--no-node-snapshot", program, ...args], { cwd: root, stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
