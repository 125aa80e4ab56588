import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import type { LogLine, RunInputs, Thrown } from "../../client/generated/operations.ts";
import { Failure } from "../failure.ts";

/** A clone and the image have it; the package of npm has no sandbox. */
const program = join(import.meta.dirname, "..", "..", "wiring", "debug", "program.ts");

/** What the program reads: docs of `POST /sources/{id}/runs/{run_id}/debug`, completed. */
export interface LocalInput extends Omit<RunInputs, "missing_props" | "db"> {
  readonly db: NonNullable<RunInputs["db"]>;
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly hook?: string;
  readonly inspect_port: number | null;
}

/** What the local run would have stored. */
export interface LocalOutcome {
  readonly durationMs: number;
  /** `payload` is JSON text. `verdict`: what dedupe says, without what earlier runs have emitted. */
  readonly emits: readonly { readonly verdict: string; readonly channel: string; readonly id: string | null; readonly payload: string }[];
  /** `value` is JSON text; null: the key would have been deleted. */
  readonly writes: readonly { readonly prop: string; readonly key: string; readonly value: string | null }[];
  readonly response: unknown;
  readonly error: Thrown | null;
  /** JSON text. */
  readonly result: string | null;
}

export interface LocalListeners {
  /** A debugger can be attached at this address. */
  onInspector(url: string): Promise<void>;
  onLog(record: Omit<LogLine, "run_id">): Promise<void>;
}

type Line =
  | { readonly type: "inspector"; readonly url: string }
  | { readonly type: "log"; readonly record: Omit<LogLine, "run_id"> }
  | { readonly type: "outcome"; readonly outcome: LocalOutcome }
  | { readonly type: "failure"; readonly message: string };

/** Variables that the program may see: it executes code, and needs no key of the API. */
const passed = [
  "PATH",
  "HOME",
  "TMPDIR",
  "NODE_COMPILE_CACHE",
  "HEADWATER_EGRESS_ALLOW",
  "HEADWATER_EGRESS_SERVER",
  "HEADWATER_SANDBOX_JAIL",
];

/** @throws Failure in the package of npm */
export function checkSandbox(): void {
  if (existsSync(program)) return;
  throw new Failure("this `hw` has no sandbox: it is the package of npm", {
    hint: "use `bin/hw.mjs` of a clone of Headwater, or of its image",
  });
}

/** Executes a run in a process of its own, which ends with the signal. @throws Failure if it cannot be executed */
export async function runLocally(
  input: LocalInput,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
  listeners: LocalListeners,
): Promise<LocalOutcome> {
  const variables = Object.fromEntries(passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  const child = spawn(process.execPath, [program], { env: variables, stdio: ["pipe", "pipe", "pipe"] });
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  try {
    child.stdin.on("error", () => {}); // It has ended: its output says why.
    child.stdin.end(JSON.stringify(input));
    return await outcomeOf(child, listeners);
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

async function outcomeOf({ stdout, stderr }: ChildProcess, listeners: LocalListeners): Promise<LocalOutcome> {
  let errors = "";
  stderr?.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  let outcome: LocalOutcome | undefined;
  if (stdout === null) throw new Failure("the sandbox has no output");
  for await (const text of createInterface({ input: stdout })) {
    const line = JSON.parse(text) as Line; // Written by the program.
    if (line.type === "failure") throw new Failure(`the run cannot be executed here: ${line.message}`);
    if (line.type === "inspector") await listeners.onInspector(line.url);
    else if (line.type === "log") await listeners.onLog(line.record);
    else outcome = line.outcome;
  }
  if (outcome !== undefined) return outcome;
  if (stderr !== null) await finished(stderr).catch(() => {}); // For the rest of its text.
  const lines = errors.trim().split("\n");
  throw new Failure(`the sandbox ended without a result: ${lines.find((line) => line.includes("Error")) ?? lines.at(-1) ?? ""}`);
}
