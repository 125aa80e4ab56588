import { Unavailable } from "../domain/errors.ts";
import { encodePack } from "../domain/invocation/invocation.ts";
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
  /** Publishing, or queued for it. */
  isBusy: boolean;
}

const maxPack = 32;
const maxPackChars = 1_000_000;
/**
 * Maximum concurrent publishes over all partitions. The stream stores messages one by one, so more would only lengthen its queue
 * and shrink packs.
 */
const maxPublishing = 4;

/**
 * Packs requests of one partition that arrive during its last publish into one message: one sync to disk, one delivery and one
 * ack for many. Without a publish in progress, a request is published alone and at once.
 */
export class Packs {
  readonly #invocations: Invocations;
  readonly #pools = new Map<string, Map<number, Queue>>();
  /** Queues that wait for another publish to finish. */
  readonly #ready: Queue[] = [];
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
      this.#ready.push(queue);
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

  /** Flushes after this turn of the event loop, so that requests of the same turn share a pack. */
  #flushSoon(): void {
    if (this.#isFlushing || this.#publishing >= maxPublishing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      while (this.#publishing < maxPublishing) {
        const queue = this.#ready.shift();
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
      if (error instanceof Unavailable) this.#rejectAll(error);
    }
    this.#publishing--;
    if (queue.waiting.length > 0) this.#ready.push(queue);
    else queue.isBusy = false;
    this.#flushSoon();
  }

  /** Rejects all queued requests, because NATS is down and each would wait for its own timeout. */
  #rejectAll(error: Unavailable): void {
    const queues = [...this.#pools.values()].flatMap((partitions) => [...partitions.values()]);
    for (const queue of queues) for (const { reject } of queue.waiting.splice(0)) reject(error);
    for (const queue of this.#ready.splice(0)) queue.isBusy = false;
  }
}

function subjectOf({ pool, partition }: Queue, pack: readonly Waiting[]): string {
  const [first] = pack;
  return pack.length === 1 && first !== undefined ? invokeSubject(pool, partition, first.source) : packSubject(pool, partition);
}

/** Number of requests that fit into a pack; a larger request is sent alone. */
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
