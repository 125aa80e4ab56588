import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";
import { usageFailure } from "../failure.ts";
import { printable, styled } from "./printable.ts";

export type Style = Parameters<typeof styleText>[0];

/** The terminal of a person, or what stands in its place. */
export interface Terminal {
  /** A person can answer prompts. */
  readonly isInteractive: boolean;
  /** Width of standard output; undefined if it is no terminal. */
  readonly columns: number | undefined;
  /** Text in colour, where standard output shows colours. */
  style(style: Style, text: string): string;
  /** Shows progress on standard error if the work takes longer than half a second. */
  progress<T>(label: string, work: () => Promise<T>): Promise<T>;
  /** Asks before something that cannot be undone; `--yes` answers. @throws Failure without a terminal */
  confirm(question: string, isConfirmed: boolean): Promise<void>;
  /** Reads a secret without showing it. @throws Failure without a terminal, which names the flag or variable */
  askSecret(question: string, alternative: string): Promise<string>;
}

const progressDelayMs = 500;

export interface TerminalOptions {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  readonly isQuiet: boolean;
  readonly hasColors: boolean;
}

export function createTerminal({ env, stdin, stdout, stderr, isQuiet, hasColors }: TerminalOptions): Terminal {
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true;
  const showsColors = hasColors && stdout.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return {
    isInteractive,
    columns: stdout.isTTY === true ? stdout.columns : undefined,
    style: (style, text) => (showsColors ? styled((each) => styleText(style, each, { validateStream: false }), text) : text),
    progress: (label, work) => (isQuiet ? work() : withProgress(label, work, stderr)),
    confirm: async (question, isConfirmed) => {
      if (isConfirmed) return;
      if (!isInteractive) throw usageFailure(`${question} needs a confirmation`, "add --yes");
      const { confirm, isCancel } = await import("@clack/prompts");
      const answer = await confirm({ message: printable(question), initialValue: false, output: stderr });
      if (isCancel(answer) || !answer) throw usageFailure("nothing was changed");
    },
    askSecret: async (question, alternative) => {
      if (!isInteractive) throw usageFailure(`${question} is missing`, alternative);
      const { password, isCancel } = await import("@clack/prompts");
      const answer = await password({ message: question, output: stderr });
      if (isCancel(answer)) throw usageFailure("nothing was changed");
      return answer;
    },
  };
}

async function withProgress<T>(label: string, work: () => Promise<T>, stderr: TerminalOptions["stderr"]): Promise<T> {
  let clear = (): void => {};
  let isDone = false;
  const show = async (): Promise<void> => {
    if (stderr.isTTY !== true) {
      stderr.write(printable(`${label} …\n`));
      return;
    }
    const { spinner } = await import("@clack/prompts");
    if (isDone) return;
    const shown = spinner({ output: stderr });
    shown.start(printable(label));
    clear = () => shown.clear();
  };
  // Floats: the work does not wait for what is shown about it.
  const timer = setTimeout(() => void show(), progressDelayMs);
  try {
    return await work();
  } finally {
    isDone = true;
    clearTimeout(timer);
    clear();
  }
}
