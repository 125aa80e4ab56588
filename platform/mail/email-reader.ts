import { Worker } from "node:worker_threads";
import { InvalidInput } from "../../domain/errors.ts";
import type { EmailContent } from "../../domain/invocation/email-event.ts";

/** What the thread posts for a message. */
export type ReadEmail = { readonly content: EmailContent } | { readonly problem: string };

/** A message that fits takes tens of milliseconds. */
const maxReadMs = 5_000;
const maxHeapMb = 256;

/**
 * Reads messages in a thread of its own, one at a time: lines cost so much that a few megabytes of them occupy a thread for seconds, and
 * requests of HTTP must not wait for that. A message that takes too long or too much memory ends the thread, and the next one gets another.
 */
export class EmailReader {
  readonly #maxReadMs: number;
  #thread: Worker | undefined;
  /** Of the message that is being read. */
  #end: ((read: ReadEmail) => void) | undefined;

  constructor(maxMs: number = maxReadMs) {
    this.#maxReadMs = maxMs;
  }

  /** One at a time. @throws InvalidInput if it cannot be read */
  async read(raw: Buffer): Promise<EmailContent> {
    const thread = (this.#thread ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<ReadEmail>();
    this.#end = resolve;
    const timer = setTimeout(() => this.#abandon(thread, `it takes more than ${this.#maxReadMs} ms to read`), this.#maxReadMs);
    thread.postMessage(raw);
    const read = await promise;
    clearTimeout(timer);
    if ("content" in read) return read.content;
    throw new InvalidInput(read.problem);
  }

  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL("email-thread.ts", import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    const tooLarge = (): void => this.#abandon(thread, "it takes too much memory to read");
    thread.on("message", (read: ReadEmail) => this.#end?.(read));
    thread.on("error", tooLarge).on("exit", tooLarge);
    thread.unref();
    return thread;
  }

  /** Its message is not read, and the next one gets another thread. */
  #abandon(thread: Worker, problem: string): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#end?.({ problem });
    void thread.terminate();
  }
}
