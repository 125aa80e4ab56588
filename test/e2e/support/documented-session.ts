import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/until.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** A fenced block of a page. `sh` blocks are run; `json` and `text` blocks are their output; `js` and `ts` blocks quote a file. */
export interface Block {
  readonly page: string;
  /** Number of its first line of content, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** The text after the language: the file that a `js` block quotes. */
  readonly title: string;
  readonly text: string;
}

export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)[ ]*(.*)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, language = "", title = "", content = ""] = found;
    return {
      page,
      line: text.slice(0, found.index).split("\n").length + 1,
      language,
      title: title.trim(),
      text: content,
    };
  });
}

/** A shell that runs blocks one after the other, like a reader's terminal: variables last from one block to the next. */
export class Session {
  readonly #shell: ChildProcess;
  #output = "";
  #errors = "";
  #blocks = 0;

  constructor(directory: string) {
    this.#shell = spawn("bash", ["--noprofile", "--norc", "-s"], { cwd: directory, stdio: ["pipe", "pipe", "pipe"] });
    this.#shell.stdout?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#shell.stderr?.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  /** Everything written to standard error. */
  get errors(): string {
    return this.#errors;
  }

  /**
   * Runs a block to its end. @returns the output since the previous block, which grows while the block's background commands run
   */
  async run(block: string): Promise<() => string> {
    const begin = this.#output.length;
    const end = `--end of block ${++this.#blocks}--\n`;
    this.#shell.stdin?.write(`${block}\necho '${end.trim()}'\n`);
    await until(() => this.#output.includes(end) || this.#shell.exitCode !== null, "the block ends", {
      more: () => `${block}\n${this.#output.slice(begin)}\n${this.#errors}`,
    });
    return () => this.#output.slice(begin).replaceAll(/--end of block \d+--\n/g, "");
  }

  async close(): Promise<void> {
    this.#shell.stdin?.end("kill $(jobs -p) 2>/dev/null\n");
    if (this.#shell.exitCode === null) await once(this.#shell, "exit");
  }
}

/**
 * Finds expected lines that were not printed, in any order; `…` in a line matches any text. A background command may print into the line
 * of another command, so a line may also be found at the start or the end of another line.
 */
export function missingLines(expected: string, printed: string): readonly string[] {
  const lines = printed.split("\n");
  const expectedLines = expected.split("\n").filter((line) => line.trim() !== "");
  const isWithin = (line: string, printedLine: string): boolean => new RegExp(`^${source(line)}|${source(line)}$`).test(printedLine);
  return expectedLines.filter((line) => !lines.some((each) => isWithin(line, each)));
}

/** The first difference between a JSON value and the documented one: `…` matches any text, and numbers (times, counts) may be larger. */
export function difference(expected: unknown, actual: unknown, at = "$"): string | undefined {
  if (typeof expected === "string")
    return typeof actual === "string" && pattern(expected).test(actual) ? undefined : mismatch(at, expected, actual);
  if (typeof expected === "number") return typeof actual === "number" && actual >= expected ? undefined : mismatch(at, expected, actual);
  if (typeof expected !== "object" || expected === null) return expected === actual ? undefined : mismatch(at, expected, actual);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(expected))
    return mismatch(at, expected, actual);
  const [wanted, given] = [new Map(Object.entries(expected)), new Map(Object.entries(actual))];
  const names = new Set([...wanted.keys(), ...given.keys()]);
  for (const name of names) {
    if (!wanted.has(name) || !given.has(name)) return `${at}.${name} is ${given.has(name) ? "not documented" : "documented but missing"}`;
    const found = difference(wanted.get(name), given.get(name), `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const mismatch = (at: string, expected: unknown, actual: unknown): string =>
  `${at} is ${JSON.stringify(actual)}, documented as ${JSON.stringify(expected)}`;
const source = (text: string): string =>
  text
    .split("…")
    .map((part) => part.replaceAll(/[^\w\s]/g, "\\$&"))
    .join("[\\s\\S]*");
const pattern = (text: string): RegExp => new RegExp(`^${source(text)}$`);
