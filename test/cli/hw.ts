import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { exitCodeOf } from "../../cli/main.ts";
import { until } from "../support/until.ts";

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

export interface RunningHw {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits until standard output matches. */
  untilPrinted(pattern: RegExp): Promise<void>;
  /** Ctrl-C. */
  interrupt(): void;
  ended(): Promise<Ended>;
}

let turn: Promise<unknown> = Promise.resolve();

/** Runs `hw` to its end, in the process of the test: one of its own would take 0.4 s of CPU time. It has no standard input. */
export function hw(world: World, args: readonly string[]): Promise<Ended> {
  const ended = turn.then(async () => {
    const before = process.cwd();
    process.chdir(world.directory);
    try {
      return await startHw(world, args).ended();
    } finally {
      process.chdir(before);
    }
  });
  turn = ended.catch(() => undefined); // The caller gets the error. The next call has a working directory of its own.
  return ended;
}

/** Starts `hw` in the process of the test. Names of files must be absolute. */
export function startHw({ directory, env }: World, args: readonly string[]): RunningHw {
  const interrupted = new AbortController();
  const [stdout, stderr] = [capture(), capture()];
  let code: number | undefined;
  const ended = exitCodeOf(args, {
    directory,
    env: { ...inherited(), ...env },
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: interrupted.signal,
  }).then((exitCode) => {
    code = interrupted.signal.aborted ? 130 : exitCode;
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  });
  return runningHw({
    stdout: stdout.text,
    stderr: stderr.text,
    hasEnded: () => code !== undefined,
    interrupt: () => interrupted.abort(),
    ended: () => ended,
  });
}

function capture(): { readonly stream: Writable; readonly text: () => string } {
  let text = "";
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { stream, text: () => text };
}

function runningHw({ hasEnded, ...running }: Omit<RunningHw, "untilPrinted"> & { readonly hasEnded: () => boolean }): RunningHw {
  const { stdout, stderr } = running;
  return {
    ...running,
    untilPrinted: (pattern) =>
      until(() => pattern.test(stdout()) || hasEnded(), `hw prints ${pattern}`, { more: () => stdout() + stderr() }),
  };
}

export interface HwProcess extends RunningHw {
  readonly child: ChildProcess;
}

/** Starts `hw` as a process, with pipes: for tests of signals, exit codes and standard input. */
export const startHwProcess = (world: World, args: readonly string[]): HwProcess => start(world, process.execPath, [program, ...args]);

/** Runs `hw` as a process with this standard input. */
export async function hwProcess(world: World, args: readonly string[], input: string): Promise<Ended> {
  const { child, ended } = startHwProcess(world, args);
  child.stdin?.end(input);
  return ended();
}

/** Runs a line of bash in which `hw` is this program, as the alias of docs/cli.md makes it. */
export async function shell(world: World, line: string): Promise<Ended> {
  const running = start(world, "bash", ["--noprofile", "--norc", "-c", `hw() { "${process.execPath}" "${program}" "$@"; }\n${line}`]);
  running.child.stdin?.end();
  return running.ended();
}

function start({ directory, env }: World, file: string, args: readonly string[]): HwProcess {
  const child = spawn(file, args, { cwd: directory, env: { ...inherited(), ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => {}); // It may have ended without reading.
  const closed = once(child, "close");
  const running = runningHw({
    stdout: () => stdout,
    stderr: () => stderr,
    hasEnded: () => child.exitCode !== null,
    interrupt: () => child.kill("SIGINT"),
    ended: async () => {
      await closed;
      return { code: child.exitCode, stdout, stderr };
    },
  });
  return { ...running, child };
}

/** PATH and what Node needs. */
export function inherited(): Record<string, string> {
  const names = ["PATH", "TMPDIR", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
