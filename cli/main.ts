import type { Readable, Writable } from "node:stream";
import { inspect } from "node:util";
import { connect } from "./connect.ts";
import type { OfflineContext } from "./context.ts";
import { exitCodes, failureOf } from "./failure.ts";
import { createOutput } from "./output/output.ts";
import { printable } from "./output/printable.ts";
import { writeTo } from "./output/standard-streams.ts";
import { createTerminal } from "./output/terminal.ts";
import { parse, type Invocation, type Settings } from "./program.ts";

/** What a command line gets from the process that runs it. */
export interface Surroundings {
  /** Where a local instance is looked for. Names of files are relative to the working directory of the process. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly signal: AbortSignal;
}

type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Runs a command line and ends the process with its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  const { signal, received } = watchSignals();
  const { env, stdin, stdout, stderr } = process;
  const code = await exitCodeOf(argv, { directory: process.cwd(), env, stdin, stdout, stderr, signal });
  process.exit(received() ?? code);
}

/** Runs a command line and returns its exit code. Several can run in one process, one after the other. */
export async function exitCodeOf(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, stdout, stderr, signal } = surroundings;
  try {
    const invocation = await parse(argv, { writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
    if (typeof invocation === "number") return invocation;
    await execute(invocation, surroundings);
    return exitCodes.success;
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    const { message, hint, exitCode } = failureOf(error);
    stderr.write(printable(`hw: ${message}\n${hint === undefined ? "" : `    ${hint}\n`}`));
    if (env["HEADWATER_DEBUG"] !== undefined) stderr.write(`${printable(inspect(error))}\n`);
    return exitCode;
  }
}

async function execute({ definition, given, settings }: Invocation, surroundings: Surroundings): Promise<void> {
  if (definition.run === undefined) return;
  const context = contextOf(settings, surroundings);
  if (definition.isOffline === true) return definition.run(context, given);
  const connection = await context.connect();
  try {
    await definition.run({ ...context, ...connection }, given);
  } finally {
    await connection.close();
  }
}

function contextOf({ format, isQuiet, hasColors, profileName, org }: Settings, surroundings: Surroundings): OfflineContext {
  const { directory, env, stdout, stderr, signal } = surroundings;
  const terminal = createTerminal({ ...surroundings, isQuiet, hasColors });
  const out = createOutput({
    format,
    isQuiet,
    columns: terminal.columns,
    isTerminal: stdout.isTTY === true,
    write: (text) => writeTo(stdout, text),
    writeError: (text) => stderr.write(text),
  });
  return {
    out,
    terminal,
    signal,
    env,
    directory,
    profileName,
    connect: () => connect({ env, directory, profileName, org, signal }),
    complete: async (words) => (await import("./completion/words.ts")).completionOf(words),
  };
}

/** The first signal aborts what runs, the second ends the process at once. */
function watchSignals(): { readonly signal: AbortSignal; readonly received: () => number | undefined } {
  const codes = { SIGINT: exitCodes.interrupted, SIGTERM: 143, SIGHUP: 129 } as const;
  const controller = new AbortController();
  let code: number | undefined;
  for (const [name, number] of Object.entries(codes)) {
    process.on(name, () => {
      if (code !== undefined) process.exit(code);
      code = number;
      controller.abort();
    });
  }
  return { signal: controller.signal, received: () => code };
}
