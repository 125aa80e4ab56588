import EventEmitter from "./events/events.ts";
import { createDecoder } from "./stream/string-decoder.ts";
import { unsupported } from "./errors.ts";
import type { GuestSignal } from "./globals.ts";
import type { Readable } from "./stream/stream.ts";

interface Options {
  readonly input: Readable;
  readonly crlfDelay?: number;
  readonly signal?: GuestSignal;
}

/** Lines of a stream, by event or `for await`. Questions need a terminal, and there is none. */
export class Interface extends EventEmitter {
  readonly input: Readable;
  readonly terminal = false;
  line = "";
  closed = false;
  readonly #decoder = createDecoder("utf8");
  #skipNewline = false;
  constructor(options: Options | Readable) {
    super();
    const { input, signal } = "input" in options ? options : { input: options, signal: undefined };
    this.input = input;
    input.on("data", (chunk: Uint8Array | string) => this.#take(typeof chunk === "string" ? chunk : this.#decoder.write(chunk)));
    input.on("end", () => {
      this.#take(this.#decoder.end());
      if (this.line !== "") this.#emitLine(this.line);
      this.line = "";
      this.close();
    });
    input.on("error", (error: Error) => this.emit("error", error));
    signal?.addEventListener("abort", () => this.close(), { once: true });
  }
  #take(text: string): void {
    const [first = "", ...rest] = (this.#skipNewline ? text.replace(/^\n/, "") : text).split(/\r\n|\n|\r/);
    this.#skipNewline = text === "" ? this.#skipNewline : text.endsWith("\r");
    let line = this.line + first;
    for (const next of rest) {
      this.#emitLine(line);
      line = next;
    }
    this.line = line;
  }
  #emitLine(line: string): void {
    if (!this.closed) this.emit("line", line);
  }
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.input.pause();
    this.emit("close");
  }
  pause(): this {
    this.input.pause();
    this.emit("pause");
    return this;
  }
  resume(): this {
    this.input.resume();
    this.emit("resume");
    return this;
  }
  setPrompt(): void {}
  prompt(): void {}
  write(): void {}
  question(): never {
    throw unsupported("readline.question", "there is no terminal; declare a prop for what you would ask");
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const lines: string[] = [];
    let wake = (): void => {};
    let failure: unknown;
    this.on("line", (line: string) => {
      lines.push(line);
      wake();
    });
    this.on("close", () => wake());
    this.on("error", (error: unknown) => {
      failure = error;
      wake();
    });
    for (;;) {
      while (lines.length > 0) yield lines.shift() ?? "";
      if (failure !== undefined) throw failure;
      if (this.closed) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

const createInterface = (options: Options | Readable): Interface => new Interface(options);
const nothing = (): boolean => true;

/** `node:readline` and `node:readline/promises`. */
export default {
  Interface,
  createInterface,
  clearLine: nothing,
  clearScreenDown: nothing,
  cursorTo: nothing,
  moveCursor: nothing,
  emitKeypressEvents: nothing,
  promises: { Interface, createInterface },
};
