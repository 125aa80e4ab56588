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

export interface Outcome extends Tally {
  /** Of each failed test, a line: its file, its name, and how its message begins. */
  readonly failures: readonly string[];
}

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number().default(0),
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

/** Runs tests once, shows what they say, and counts them. @param args of vitest, besides the reporters */
export async function runTests(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), "headwater-report-"));
  const file = join(directory, "report.json");
  try {
    const code = await vitest(["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args], env);
    return outcomeOf(file, code);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Says once more, where it is seen, what failed. */
export const tellFailures = (failures: readonly string[]): void => failures.forEach((failure) => console.log(`✗ ${failure}`));

/** The line that everything which counts tests ends with. */
export const tallyLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** A file that does not load, a leak found at the end, a vitest that does not start: none is a failed test, and each is a failure. */
function outcomeOf(file: string, code: number | undefined): Outcome {
  try {
    const read = reportSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    const failed = read.numFailedTests === 0 && (code !== 0 || !read.success) ? 1 : read.numFailedTests;
    return { passed: read.numPassedTests, failed, skipped: read.numPendingTests + read.numTodoTests, failures: failuresOf(read) };
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: ["vitest left no report"] };
  }
}

const lineLength = 300;

function failuresOf({ testResults }: Report): readonly string[] {
  return testResults.flatMap(({ name, message, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    // A file that does not load has no tests.
    const failed = status === "failed" && tests.length === 0 ? [{ fullName: "", failureMessages: [message] }] : tests;
    return failed.map(({ fullName, failureMessages }) =>
      `${relative(root, name)} ${fullName}: ${failureMessages?.[0]?.split("\n")[0] ?? ""}`.slice(0, lineLength),
    );
  });
}

export function vitest(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number | undefined> {
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, ["--no-node-snapshot", program, ...args], { cwd: root, stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
