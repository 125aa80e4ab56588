import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./headwater.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** A fenced block of a page. `sh` is run; `json` and `text` after it say what that prints; `js` and `ts` quote a file. */
export interface Block {
  readonly page: string;
  /** Of its first line of content, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** What follows the language: the file that a `js` block quotes. */
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

/** A shell in which blocks run one after the other, as in a reader's terminal: what one sets, the next one has. */
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

  /** What standard error was told so far. */
  get errors(): string {
    return this.#errors;
  }

  /**
   * Runs a block to its end. @returns what it has printed since the block before, which grows while something of it goes on
   * in the background
   */
  async run(block: string): Promise<() => string> {
    const begin = this.#output.length;
    const end = `--end of block ${++this.#blocks}--\n`;
    this.#shell.stdin?.write(`${block}\necho '${end.trim()}'\n`);
    await until(
      () => this.#output.includes(end) || this.#shell.exitCode !== null,
      "the block ends",
      60_000,
      () => `${block}\n${this.#output.slice(begin)}\n${this.#errors}`,
    );
    return () => this.#output.slice(begin).replaceAll(/--end of block \d+--\n/g, "");
  }

  async close(): Promise<void> {
    this.#shell.stdin?.end("kill $(jobs -p) 2>/dev/null\n");
    if (this.#shell.exitCode === null) await once(this.#shell, "exit");
  }
}

/**
 * Lines in which `…` stands for anything; each has to be printed, in whatever order. What runs in the background may print
 * between another command's text and the end of its line, so a line may also be found at the end or the beginning of another.
 * @returns those that are not
 */
export function missingLines(expected: string, printed: string): readonly string[] {
  const lines = printed.split("\n");
  const wanted = expected.split("\n").filter((line) => line.trim() !== "");
  const isWithin = (line: string, printedLine: string): boolean => new RegExp(`^${source(line)}|${source(line)}$`).test(printedLine);
  return wanted.filter((line) => !lines.some((each) => isWithin(line, each)));
}

/** Where a JSON value differs from the documented one: `…` in a text stands for anything, numbers (times, counts) only grow. */
export function difference(expected: unknown, actual: unknown, at = "$"): string | undefined {
  if (typeof expected === "string")
    return typeof actual === "string" && pattern(expected).test(actual) ? undefined : told(at, expected, actual);
  if (typeof expected === "number") return typeof actual === "number" && actual >= expected ? undefined : told(at, expected, actual);
  if (typeof expected !== "object" || expected === null) return expected === actual ? undefined : told(at, expected, actual);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(expected)) return told(at, expected, actual);
  const [wanted, given] = [new Map(Object.entries(expected)), new Map(Object.entries(actual))];
  const names = new Set([...wanted.keys(), ...given.keys()]);
  for (const name of names) {
    if (!wanted.has(name) || !given.has(name)) return `${at}.${name} is ${given.has(name) ? "not documented" : "documented and not there"}`;
    const found = difference(wanted.get(name), given.get(name), `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const told = (at: string, expected: unknown, actual: unknown): string =>
  `${at} is ${JSON.stringify(actual)}, documented as ${JSON.stringify(expected)}`;
const source = (text: string): string =>
  text
    .split("…")
    .map((part) => part.replaceAll(/[^\w\s]/g, "\\$&"))
    .join("[\\s\\S]*");
const pattern = (text: string): RegExp => new RegExp(`^${source(text)}$`);
