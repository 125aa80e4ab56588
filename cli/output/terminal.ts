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
  readonly env: NodeJS.ProcessEnv;
  readonly isQuiet: boolean;
  readonly hasColors: boolean;
}

export function createTerminal({ env, isQuiet, hasColors }: TerminalOptions): Terminal {
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const showsColors = hasColors && process.stdout.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return {
    isInteractive,
    columns: process.stdout.isTTY === true ? process.stdout.columns : undefined,
    style: (style, text) => (showsColors ? styled((each) => styleText(style, each, { validateStream: false }), text) : text),
    progress: (label, work) => (isQuiet ? work() : withProgress(label, work)),
    confirm: async (question, isConfirmed) => {
      if (isConfirmed) return;
      if (!isInteractive) throw usageFailure(`${question} needs a confirmation`, "add --yes");
      const { confirm, isCancel } = await import("@clack/prompts");
      const answer = await confirm({ message: printable(question), initialValue: false, output: process.stderr });
      if (isCancel(answer) || !answer) throw usageFailure("nothing was changed");
    },
    askSecret: async (question, alternative) => {
      if (!isInteractive) throw usageFailure(`${question} is missing`, alternative);
      const { password, isCancel } = await import("@clack/prompts");
      const answer = await password({ message: question, output: process.stderr });
      if (isCancel(answer)) throw usageFailure("nothing was changed");
      return answer;
    },
  };
}

async function withProgress<T>(label: string, work: () => Promise<T>): Promise<T> {
  let clear = (): void => {};
  let isDone = false;
  const show = async (): Promise<void> => {
    if (process.stderr.isTTY !== true) {
      process.stderr.write(printable(`${label} …\n`));
      return;
    }
    const { spinner } = await import("@clack/prompts");
    if (isDone) return;
    const shown = spinner({ output: process.stderr });
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
