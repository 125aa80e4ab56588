import { Unavailable } from "../domain/errors.ts";
import { encodePack } from "../domain/invocation.ts";
import { invokeSubject, packSubject } from "../domain/subjects.ts";
import type { Invocations } from "./ports.ts";

interface Waiting {
  readonly source: string;
  /** JSON text of the invocation. */
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  readonly pool: string;
  readonly partition: number;
  readonly waiting: Waiting[];
  /** Publishing, or in line for it. */
  isBusy: boolean;
}

const maxPack = 32;
const maxPackChars = 1_000_000;
/**
 * Publishes under way over all partitions. The stream stores one message after the other, so more would only make its queue longer
 * and our packs smaller.
 */
const maxPublishing = 4;

/**
 * Requests of one partition that arrive while its last publish is under way share one message: one sync to disk, one delivery and one
 * ack for many. When nothing is under way a request goes alone and at once.
 */
export class Packs {
  readonly #invocations: Invocations;
  readonly #pools = new Map<string, Map<number, Queue>>();
  /** Queues whose turn to publish comes when another has finished. */
  readonly #line: Queue[] = [];
  #publishing = 0;
  #isFlushing = false;

  constructor(invocations: Invocations) {
    this.#invocations = invocations;
  }

  /** Resolves when the invocation is stored durably. @throws what publishing throws, for each of the pack */
  add(pool: string, partition: number, source: string, text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#queue(pool, partition);
      queue.waiting.push({ source, text, resolve, reject });
      if (queue.isBusy) return;
      queue.isBusy = true;
      this.#line.push(queue);
      this.#flushSoon();
    });
  }

  #queue(pool: string, partition: number): Queue {
    let queues = this.#pools.get(pool);
    if (queues === undefined) this.#pools.set(pool, (queues = new Map()));
    let queue = queues.get(partition);
    if (queue === undefined) queues.set(partition, (queue = { pool, partition, waiting: [], isBusy: false }));
    return queue;
  }

  /** What arrives in the same turn of the event loop goes along. */
  #flushSoon(): void {
    if (this.#isFlushing || this.#publishing >= maxPublishing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      while (this.#publishing < maxPublishing) {
        const queue = this.#line.shift();
        if (queue === undefined) return;
        void this.#publish(queue); // Settles each promise of the pack, and never rejects.
      }
    });
  }

  async #publish(queue: Queue): Promise<void> {
    const pack = queue.waiting.splice(0, packLength(queue.waiting));
    this.#publishing++;
    try {
      await this.#invocations.publish(subjectOf(queue, pack), encodePack(pack.map(({ text }) => text)));
      for (const { resolve } of pack) resolve();
    } catch (error) {
      for (const { reject } of pack) reject(error);
      if (error instanceof Unavailable) this.#rejectLine(error);
    }
    this.#publishing--;
    if (queue.waiting.length > 0) this.#line.push(queue);
    else queue.isBusy = false;
    this.#flushSoon();
  }

  /** The server is away: those behind would only wait as long again, one after the other. */
  #rejectLine(error: Unavailable): void {
    const queues = [...this.#pools.values()].flatMap((partitions) => [...partitions.values()]);
    for (const queue of queues) for (const { reject } of queue.waiting.splice(0)) reject(error);
    for (const queue of this.#line.splice(0)) queue.isBusy = false;
  }
}

function subjectOf({ pool, partition }: Queue, pack: readonly Waiting[]): string {
  const [first] = pack;
  return pack.length === 1 && first !== undefined ? invokeSubject(pool, partition, first.source) : packSubject(pool, partition);
}

/** As many as fit; one that is larger than a pack goes alone. */
function packLength(waiting: readonly Waiting[]): number {
  let length = 0;
  let chars = 0;
  for (const { text } of waiting) {
    chars += text.length;
    if (length > 0 && (length === maxPack || chars > maxPackChars)) break;
    length++;
  }
  return length;
}
