import { inspect } from "node:util";
import { connect } from "./connect.ts";
import type { OfflineContext } from "./context.ts";
import { exitCodes, failureOf } from "./failure.ts";
import { createOutput } from "./output/output.ts";
import { printable } from "./output/printable.ts";
import { writeTo } from "./output/standard-streams.ts";
import { createTerminal } from "./output/terminal.ts";
import { parse, type Invocation, type Settings } from "./program.ts";

/** Runs a command line and ends the process with its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  const { signal, received } = watchSignals();
  const code = await exitCodeOf(argv, signal);
  process.exit(received() ?? code);
}

async function exitCodeOf(argv: readonly string[], signal: AbortSignal): Promise<number> {
  try {
    const invocation = await parse(argv);
    if (typeof invocation === "number") return invocation;
    await execute(invocation, signal);
    return exitCodes.success;
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted;
    const { message, hint, exitCode } = failureOf(error);
    process.stderr.write(printable(`hw: ${message}\n${hint === undefined ? "" : `    ${hint}\n`}`));
    if (process.env["HEADWATER_DEBUG"] !== undefined) process.stderr.write(`${printable(inspect(error))}\n`);
    return exitCode;
  }
}

async function execute({ definition, given, settings }: Invocation, signal: AbortSignal): Promise<void> {
  if (definition.run === undefined) return;
  const context = contextOf(settings, signal);
  if (definition.isOffline === true) return definition.run(context, given);
  const connection = await context.connect();
  try {
    await definition.run({ ...context, ...connection }, given);
  } finally {
    await connection.close();
  }
}

function contextOf({ format, isQuiet, hasColors, profileName, org }: Settings, signal: AbortSignal): OfflineContext {
  const { env } = process;
  const terminal = createTerminal({ env, isQuiet, hasColors });
  const out = createOutput({
    format,
    isQuiet,
    columns: terminal.columns,
    isTerminal: process.stdout.isTTY === true,
    write: (text) => writeTo(process.stdout, text),
    writeError: (text) => process.stderr.write(text),
  });
  const directory = process.cwd();
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
