import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { root } from "./checks.ts";
import { cpuMsOfTree } from "./cpu-time.ts";

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  /** Test file, test name and the line that threw, or the name of a check. */
  readonly name: string;
  /** The error message, in one line. */
  readonly message: string;
}

export interface TestRun extends Tally {
  readonly failures: readonly Failure[];
  readonly files: readonly TestFile[];
}

export interface TestFile {
  /** Relative to the root. */
  readonly path: string;
  readonly failed: boolean;
  /** CPU time, in s, with that of the child processes of the file. */
  readonly cpuSeconds: number;
  /** Files that the same process ran before it, first one first. */
  readonly before: readonly string[];
}

/** The environment variable that passes the path of the report to `vitest-reporter.ts`. */
export const reportVariable = "HEADWATER_TEST_REPORT";

const maxLineLength = 500;

const reportSchema = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  failures: z.array(z.object({ name: z.string(), message: z.string() })),
  files: z.array(z.object({ path: z.string(), failed: z.boolean(), cpuSeconds: z.number(), before: z.array(z.string()) })),
});

/**
 * Runs the tests once, shows their output and counts them.
 *
 * @param args arguments of vitest, without reporters
 */
export async function runTests(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<TestRun> {
  const directory = mkdtempSync(join(tmpdir(), "headwater-report-"));
  const file = join(directory, "report.json");
  try {
    const reporters = ["--reporter=default", `--reporter=${join(root, "scripts/vitest-reporter.ts")}`];
    const code = await vitest(["run", ...reporters, ...args], { ...env, [reportVariable]: file });
    return completed(reportSchema.parse(JSON.parse(readFileSync(file, "utf8"))), code === 0);
  } catch (error) {
    const message = `vitest wrote no valid report: ${error instanceof Error ? error.message : String(error)}`;
    return { passed: 0, failed: 1, skipped: 0, failures: [{ name: "vitest", message }], files: [] };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Prints one line per failure. The details were printed when it happened, far above. */
export function printFailures(failures: readonly Failure[]): void {
  for (const { name, message } of failures) console.log(`✗ ${name}: ${message}`.slice(0, maxLineLength));
}

/** Prints how to repeat the order in which a process ran a failed file after others, with which it shares modules. */
export function printOrders(files: readonly TestFile[]): void {
  const failed = files.filter((file) => file.failed && file.before.length > 0);
  for (const { path, before } of failed)
    console.log(`The order in which ${path} failed: npm test -- --in-order ${[...before, path].join(" ")}`);
}

/** Prints the CPU time of the whole run, of all files, and of those that used the most. */
export function printCpuTime(files: readonly TestFile[], shown = 10): void {
  const total = files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const ofRun = cpuMsOfTree(process.pid) / 1_000;
  console.log(`CPU time: ${ofRun.toFixed(0)} s, of which ${files.length} test files used ${total.toFixed(0)} s`);
  const costly = files.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds).slice(0, shown);
  for (const { path, cpuSeconds } of costly) console.log(`  ${cpuSeconds.toFixed(1).padStart(6)} s  ${path}`);
}

/** The last line of every command that counts tests. */
export const tallyLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** A run also fails without a reported failure: when no test matches, or when a global setup throws. */
function completed(run: TestRun, exitedWithZero: boolean): TestRun {
  if (exitedWithZero || run.failures.length > 0) return run;
  const failure = { name: "vitest", message: "it exited with an error, see above" };
  return { ...run, failed: 1, failures: [failure] };
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
