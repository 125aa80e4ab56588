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
  /** Its file and its name. */
  readonly what: string;
  /** How its message begins. */
  readonly why: string;
}

export interface Outcome extends Tally {
  readonly failures: readonly Failure[];
  /** Those that failed beside others and passed alone. */
  readonly unsteady: readonly Failure[];
}

/** More failed files than that are no accident. */
const mostRepeated = 6;
/** What fails thrice fails. */
const mostTurns = 2;

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
 * Runs tests, shows what they say, and counts them. Files that failed run again, without others beside them: most of ours start
 * processes and wait for them, and a machine may be busy with something else. What passes then is told as unsteady.
 *
 * @param args of vitest, besides the reporters
 */
export async function runTests(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  const first = await reportOf(args, env);
  if (first === undefined)
    return { passed: 0, failed: 1, skipped: 0, failures: [{ what: "vitest", why: "it left no report" }], unsteady: [] };
  const options = args.filter((argument, index) => argument.startsWith("--") || args[index - 1] === "--config");
  let last = first;
  for (let turn = 0; turn < mostTurns; turn++) {
    const broken = last.testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
    if (last.succeeded || broken.length === 0 || broken.length > mostRepeated) break;
    console.log(`\nonce more, alone: ${broken.map((file) => relative(root, file)).join(", ")}`);
    const again = await reportOf([...options, "--maxWorkers=1", ...broken], env);
    if (again === undefined) break;
    const others = last.testResults.filter(({ name }) => !broken.includes(name));
    last = { succeeded: again.succeeded, testResults: [...others, ...again.testResults] };
  }
  const still = new Set(failuresOf(last).map(({ what }) => what));
  return { ...outcomeOf(last), unsteady: failuresOf(first).filter(({ what }) => !still.has(what)) };
}

/** Says once more, where it is seen, what failed. */
export function tellFailures({ failures, unsteady }: Pick<Outcome, "failures" | "unsteady">): void {
  for (const { what, why } of unsteady) console.log(`↻ passed alone, failed beside others: ${what}: ${why}`.slice(0, lineLength));
  for (const { what, why } of failures) console.log(`✗ ${what}: ${why}`.slice(0, lineLength));
}

/** The line that everything which counts tests ends with. */
export const tallyLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

interface Ran extends Pick<Report, "testResults"> {
  /** Also no leak was found at the end. */
  readonly succeeded: boolean;
}

async function reportOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran | undefined> {
  const directory = mkdtempSync(join(tmpdir(), "headwater-report-"));
  const file = join(directory, "report.json");
  try {
    const code = await vitest(["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args], env);
    const { testResults, success } = reportSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    return { testResults, succeeded: success && code === 0 };
  } catch {
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A file that does not load, a leak found at the end: neither is a failed test, and each is a failure. */
function outcomeOf(ran: Ran): Omit<Outcome, "unsteady"> {
  const failures = failuresOf(ran);
  const count = (wanted: (status: string) => boolean): number =>
    ran.testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => wanted(status)).length;
  return {
    passed: count((status) => status === "passed"),
    failed: failures.length === 0 && !ran.succeeded ? 1 : failures.length,
    skipped: count((status) => status !== "passed" && status !== "failed"),
    failures,
  };
}

const lineLength = 300;

function failuresOf({ testResults }: Ran): readonly Failure[] {
  return testResults.flatMap(({ name, message, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    // A file that does not load has no tests.
    const failed = status === "failed" && tests.length === 0 ? [{ fullName: "", failureMessages: [message] }] : tests;
    return failed.map(({ fullName, failureMessages }) => ({
      what: `${relative(root, name)} ${fullName}`.trim(),
      why: failureMessages?.[0]?.split("\n")[0] ?? "",
    }));
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
