import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { until } from "../e2e/support/headwater.ts";

export const program = join(import.meta.dirname, "..", "..", "bin", "hw.mjs");

/** Where and for whom `hw` runs. Only these variables, PATH and a compile cache are set: the test's own environment must not matter. */
export interface World {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `hw` to its end. */
export async function hw(world: World, args: readonly string[], input = ""): Promise<Ended> {
  const running = startHw(world, args);
  running.child.stdin?.end(input);
  return running.ended();
}

export interface RunningHw {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits until standard output matches. */
  untilPrinted(pattern: RegExp): Promise<void>;
  ended(): Promise<Ended>;
}

/** Starts `hw` with pipes. */
export const startHw = (world: World, args: readonly string[]): RunningHw => start(world, process.execPath, [program, ...args]);

/** Runs a line of bash in which `hw` is this program, as the alias of docs/cli.md makes it. */
export async function shell(world: World, line: string): Promise<Ended> {
  const running = start(world, "bash", ["--noprofile", "--norc", "-c", `hw() { "${process.execPath}" "${program}" "$@"; }\n${line}`]);
  running.child.stdin?.end();
  return running.ended();
}

function start({ directory, env }: World, file: string, args: readonly string[]): RunningHw {
  const child = spawn(file, args, { cwd: directory, env: { ...inherited(), ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => {}); // It may have ended without reading.
  const closed = once(child, "close");
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    untilPrinted: (pattern) =>
      until(
        () => pattern.test(stdout) || child.exitCode !== null,
        `hw prints ${pattern}`,
        60_000,
        () => stdout + stderr,
      ),
    ended: async () => {
      await closed;
      return { code: child.exitCode, stdout, stderr };
    },
  };
}

/** PATH and what Node needs. */
export function inherited(): Record<string, string> {
  const names = ["PATH", "TMPDIR", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
