import { retry } from "../../../domain/retry.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { followFrom, type Following } from "./follow.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface PartitionedOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** Subjects of a partition, and the partition of a subject. */
  readonly filterOf: (partition: number) => string;
  readonly partitionOf: (subject: string) => number;
  /** In order of the stream. `done` may be called at any time and in any order; until then the partition's floor stays below the message. */
  readonly onMessage: (message: StreamMessage, done: () => void) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** Reading pauses while messages of so many bytes are open. A little more may be on its way. */
  readonly maxOpenBytes?: number;
  /** Messages above the floors. */
  readonly maxOpen?: number;
  /** Beginning of the consumers' names. */
  readonly namePrefix?: string;
}

/** A partition that is being read. */
export interface OpenPartition {
  /** Hands out no more of it. Resolves once all that was handed out is done. */
  close(): Promise<void>;
}

interface Open {
  readonly bytes: number;
  isDone: boolean;
}

interface Partition {
  readonly number: number;
  /** What lies up to here is not handed out. */
  position: number;
  floor: number;
  /** By sequence, in order of the stream: all that was handed out above the floor. */
  readonly open: Map<number, Open>;
  readonly onIdle: (() => void)[];
}

const mebibyte = 1_048_576;
/** Requests overlap, so that four times as much may be on its way. */
const requestBytes = 2 * mebibyte;
/** Of a message besides its data: subject, headers, objects. */
const overheadBytes = 1_024;
const retryMs = 500;

/**
 * Follows some partitions of a stream without acks and with bounded memory, by one consumer, which is replaced when the partitions change.
 * The floor of a partition says how far everything in it is done: whoever keeps the floor can go on behind it after a crash.
 */
export class PartitionedFollow implements Stoppable {
  readonly #options: PartitionedOptions;
  readonly #maxOpenBytes: number;
  readonly #maxOpen: number;
  readonly #partitions = new Map<number, Partition>();
  /** Closed ones that are not done. */
  readonly #closing = new Set<Partition>();
  /** Of partitions that were closed. */
  readonly #floors = new Map<number, number>();
  /** Those that the consumer reads, and the last sequence it has brought. */
  readonly #followed = new Set<Partition>();
  #lastSeq = 0;
  #following: Following | undefined;
  /** Restarts follow one another; those that are asked for while one waits are one. */
  #restarting: Promise<void> = Promise.resolve();
  #nextRestart: Promise<void> | undefined;
  #openBytes = 0;
  #openMessages = 0;
  #isPaused = false;
  readonly #stopping = new AbortController();

  constructor(options: PartitionedOptions) {
    this.#options = options;
    this.#maxOpenBytes = options.maxOpenBytes ?? 32 * mebibyte;
    this.#maxOpen = options.maxOpen ?? 20_000;
  }

  /** Reads the partition behind that sequence. Resolves when reading has begun, which waits for NATS, or is stopped. */
  async open(number: number, afterSequence: number): Promise<OpenPartition> {
    const partition: Partition = { number, position: afterSequence, floor: afterSequence, open: new Map(), onIdle: [] };
    this.#partitions.set(number, partition);
    await this.#restart();
    return { close: () => this.#close(partition) };
  }

  /** By partition: every message of it up to this sequence is done. A partition without newer messages is as far as the others. */
  floors(): ReadonlyMap<number, number> {
    const floors = new Map(this.#floors);
    for (const partition of [...this.#partitions.values(), ...this.#closing])
      floors.set(partition.number, Math.max(floors.get(partition.number) ?? 0, this.#floorOf(partition)));
    return floors;
  }

  /** Nothing of the partition up to this sequence will be handed out any more; 0: it is not open. */
  position(number: number): number {
    const partition = this.#partitions.get(number);
    return partition === undefined ? 0 : this.#positionOf(partition);
  }

  /** Bytes of messages that are not done. */
  get openBytes(): number {
    return this.#openBytes;
  }

  /** Hands out no more. What was handed out may still be done, see `idle`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restart();
  }

  /** Resolves once everything that was handed out is done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#partitions.values(), ...this.#closing].map((partition) => idle(partition)));
  }

  async #close(partition: Partition): Promise<void> {
    if (this.#partitions.get(partition.number) !== partition) return;
    partition.position = this.#positionOf(partition);
    this.#partitions.delete(partition.number);
    this.#followed.delete(partition);
    this.#closing.add(partition);
    void this.#restart(); // Never rejects.
    await idle(partition);
    this.#floors.set(partition.number, Math.max(this.#floors.get(partition.number) ?? 0, this.#floorOf(partition)));
    this.#closing.delete(partition);
  }

  /** What the consumer has brought, it has brought in order: nothing of its partitions lies below that any more. */
  #positionOf(partition: Partition): number {
    return this.#followed.has(partition) ? Math.max(partition.position, this.#lastSeq) : partition.position;
  }

  #floorOf(partition: Partition): number {
    return partition.open.size === 0 ? Math.max(partition.floor, this.#positionOf(partition)) : partition.floor;
  }

  #restart(): Promise<void> {
    this.#nextRestart ??= this.#restarting = this.#restarting.then(async () => {
      this.#nextRestart = undefined;
      await this.#followPartitions();
    });
    return this.#nextRestart;
  }

  /** Never rejects: until it succeeds it is repeated. */
  async #followPartitions(): Promise<void> {
    await this.#following?.stop();
    this.#following = undefined;
    for (const partition of this.#followed) partition.position = this.#positionOf(partition);
    this.#followed.clear();
    this.#lastSeq = 0;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const follow = async (): Promise<void> => {
      if (this.#partitions.size === 0) return;
      for (const partition of this.#partitions.values()) this.#followed.add(partition);
      try {
        this.#following = await this.#follow();
      } catch (error) {
        this.#followed.clear();
        throw error;
      }
    };
    const onFailure = (error: unknown): void => this.#options.onInterrupted?.(error instanceof Error ? error.message : String(error));
    await retry(follow, { firstMs: retryMs, signal, onFailure }).catch(() => undefined); // Stopping.
  }

  #follow(): Promise<Following> {
    const { connection, stream, filterOf, onInterrupted, namePrefix } = this.#options;
    const followed = [...this.#followed];
    return followFrom({
      connection,
      stream,
      filter: followed.map(({ number }) => filterOf(number)),
      from: Math.min(...followed.map(({ position }) => position)) + 1,
      maxBytes: Math.max(requestBytes, (connection.nats.info?.max_payload ?? 0) + 65_536),
      canPull: () => !this.#isPaused,
      onMessage: (message) => this.#take(message),
      ...(onInterrupted === undefined ? {} : { onInterrupted }),
      ...(namePrefix === undefined ? {} : { namePrefix }),
    });
  }

  #take(message: StreamMessage): void {
    const partition = this.#partitions.get(this.#options.partitionOf(message.subject));
    if (partition === undefined || !this.#followed.has(partition)) return;
    this.#lastSeq = message.seq;
    if (message.seq <= partition.position) return;
    const open: Open = { bytes: message.data.length + overheadBytes, isDone: false };
    partition.open.set(message.seq, open);
    this.#openBytes += open.bytes;
    this.#openMessages++;
    if (!this.#hasRoom(1)) this.#isPaused = true;
    this.#options.onMessage(message, () => this.#done(partition, open));
  }

  #done(partition: Partition, open: Open): void {
    if (open.isDone) return;
    open.isDone = true;
    this.#openBytes -= open.bytes;
    this.#raiseFloor(partition);
    if (this.#isPaused && this.#hasRoom(1 / 2)) {
      this.#isPaused = false;
      this.#following?.resume();
    }
  }

  #hasRoom(share: number): boolean {
    return this.#openBytes < share * this.#maxOpenBytes && this.#openMessages < share * this.#maxOpen;
  }

  #raiseFloor(partition: Partition): void {
    for (const [seq, open] of partition.open) {
      if (!open.isDone) break;
      partition.open.delete(seq);
      partition.floor = seq;
      this.#openMessages--;
    }
    if (partition.open.size === 0) for (const resolve of partition.onIdle.splice(0)) resolve();
  }
}

function idle({ open, onIdle }: Partition): Promise<void> {
  return open.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
}
