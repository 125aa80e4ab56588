import { decodePack, encodePack, type Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import type { Feed } from "./feed.ts";
import { startedAt } from "./process.ts";
import type { Task, VirtualTime } from "./virtual-time.ts";

export interface StoredInvocations {
  readonly seq: number;
  readonly partition: number;
  readonly text: string;
  /** Epoch ms of the server's clock. */
  readonly storedAt: number;
}

interface Reader {
  readonly partition: number;
  /** Sequence of the last message when it was opened. */
  readonly openedAt: number;
  readonly feed: Feed<StoredInvocations & { readonly isNew: boolean }>;
}

const duplicateWindowMs = 120_000;

/** The stream INVOCATIONS of one pool: a message stays until it is acked. */
export class InvocationsModel {
  readonly #time: VirtualTime;
  readonly #unacked = new Map<number, StoredInvocations>();
  readonly #readers = new Set<Reader>();
  readonly #known = new Map<string, number>();
  readonly #waking = new Map<string, Task>();
  #seq = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get size(): number {
    return this.#unacked.size;
  }

  /** Stores an invocation, given as JSON text. One whose `messageId` came within two minutes is ignored. */
  publish(invocation: string, messageId?: string): void {
    const knownAt = messageId === undefined ? undefined : this.#known.get(messageId);
    if (knownAt !== undefined && this.#time.now - knownAt < duplicateWindowMs) return;
    if (messageId !== undefined) this.#known.set(messageId, this.#time.now);
    const text = encodePack([invocation]);
    const partition = partitionOf(decodePack(text)[0]?.source ?? "");
    const message = { seq: ++this.#seq, partition, text, storedAt: startedAt + Math.floor(this.#time.now) };
    this.#unacked.set(message.seq, message);
    for (const reader of this.#readers) if (reader.partition === partition) this.#deliver(reader, message);
  }

  /** Continues a suspended run at a time (epoch ms), by the rules of `platform/jetstream/invocations/pool-requests.ts`. */
  wake(workflow: string, run: string, suspension: number, atMs: number): void {
    this.#waking.get(run)?.cancel();
    const invocation: Invocation = { source: workflow, trigger: "resume", at: atMs, resume: { run, suspension, action: "wake" } };
    this.#waking.set(
      run,
      this.#time.after(atMs - startedAt - this.#time.now, () => this.publish(JSON.stringify(invocation))),
    );
  }

  ack(seq: number): void {
    this.#unacked.delete(seq);
  }

  /** Hands out all messages of a partition that are not acked, and those to come. */
  read(partition: number, feed: Reader["feed"]): void {
    const reader = { partition, openedAt: this.#seq, feed };
    this.#readers.add(reader);
    this.#deliverAll(reader);
  }

  /** After a reconnect, readers get all messages again that are not acked. */
  redeliver(): void {
    for (const reader of this.#readers) this.#deliverAll(reader);
  }

  /** A server that is killed forgets which messages it has stored. */
  forgetIds(): void {
    this.#known.clear();
  }

  #deliverAll(reader: Reader): void {
    for (const message of this.#unacked.values()) if (message.partition === reader.partition) this.#deliver(reader, message);
  }

  #deliver(reader: Reader, message: StoredInvocations): void {
    if (!reader.feed.isOpen) this.#readers.delete(reader);
    else reader.feed.push({ ...message, isNew: message.seq > reader.openedAt });
  }
}
