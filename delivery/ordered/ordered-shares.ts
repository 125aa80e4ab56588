import { ownerShareBytes, type StreamUsage } from "../../domain/limits/stream-share.ts";
import type { QueueStore } from "./ports.ts";

/** Until then, what was stored since is added to what NATS has counted. */
const maxAgeMs = 1_000;

interface Known {
  readonly readAt: number;
  /** Bytes that were stored since then. */
  stored: number;
  readonly usage: StreamUsage | undefined;
}

/**
 * Decides whether a further batch may wait for an ordered webhook, by the owner's share of the stream ORDERED
 * (`domain/limits/stream-share.ts`). NATS counts the stream, and is asked at most once a second and before each refusal. What an owner has
 * is counted here: one replica holds all queues, and each message has the bytes of its queue up to it, so restarts do not matter.
 */
export class OrderedShares {
  readonly #queueStore: Pick<QueueStore, "usage">;
  readonly #ownerOf: (webhook: string) => string | undefined;
  readonly #bytesOf: (owner: string | undefined) => number;
  #known: Known | undefined;

  /** @param bytesOf bytes in the queues of an owner */
  constructor(
    queueStore: Pick<QueueStore, "usage">,
    ownerOf: (webhook: string) => string | undefined,
    bytesOf: (owner: string | undefined) => number,
  ) {
    this.#queueStore = queueStore;
    this.#ownerOf = ownerOf;
    this.#bytesOf = bytesOf;
  }

  /** Counts the batch if it may be stored. @returns why not; undefined: it may @throws Unavailable */
  async refusal(webhook: string, bytes: number): Promise<string | undefined> {
    const isFresh = this.#known !== undefined && performance.now() - this.#known.readAt < maxAgeMs;
    if (this.#known === undefined || !isFresh || !this.#fits(this.#known, webhook, bytes)) {
      const readAt = performance.now();
      this.#known = { readAt, stored: 0, usage: await this.#queueStore.usage() };
    }
    if (this.#fits(this.#known, webhook, bytes)) {
      this.#known.stored += bytes;
      return undefined;
    }
    const queued = this.#bytesOf(this.#ownerOf(webhook));
    return `the deliveries in the queues of this owner's ordered webhooks have ${queued} bytes, and the store is too full for ${bytes} more: repair or delete webhooks that fail, then retry this delivery`;
  }

  #fits({ usage, stored }: Known, webhook: string, bytes: number): boolean {
    const share = ownerShareBytes(usage === undefined ? undefined : { ...usage, bytes: usage.bytes + stored });
    // Most of the time the stream is nearly empty, and the queues need not be counted.
    return share === Number.POSITIVE_INFINITY || this.#bytesOf(this.#ownerOf(webhook)) + bytes <= share;
  }
}
