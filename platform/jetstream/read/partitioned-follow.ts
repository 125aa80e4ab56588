import { aborted, retry } from "../../../domain/retry.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { followFrom, type Following } from "./follow.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface PartitionedOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** The subjects of a partition, and the partition of a subject. */
  readonly filterOf: (partition: number) => string;
  readonly partitionOf: (subject: string) => number;
  /** Called in the order of the stream. `done` may be called in any order; until then the partition's floor stays below the message. */
  readonly onMessage: (message: StreamMessage, done: () => void) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** Reading pauses while unfinished messages have this many bytes. A few more may be in flight. */
  readonly maxOpenBytes?: number;
  /** Bound on unfinished messages. */
  readonly maxOpen?: number;
  /** Prefix of the consumers' names. */
  readonly namePrefix?: string;
}

/** A partition that is being read. */
export interface OpenPartition {
  /** Hands out no more messages of it. Resolves once those that were handed out are done, or forgotten when the signal aborts. */
  close(signal?: AbortSignal): Promise<void>;
}

interface Open {
  readonly bytes: number;
  isDone: boolean;
}

interface Partition {
  readonly number: number;
  /** Messages up to this sequence are not handed out. */
  position: number;
  floor: number;
  /** Messages above the floor that were handed out, by sequence and in order. */
  readonly open: Map<number, Open>;
  readonly onIdle: (() => void)[];
}

const mebibyte = 1_048_576;
/** Requests overlap, so four times as many bytes may be in flight. */
const requestBytes = 2 * mebibyte;
/** Memory of a message besides its data: subject, headers, objects. */
const overheadBytes = 1_024;
const retryMs = 500;

/**
 * Follows some partitions of a stream without acks and with bounded memory, by one consumer, which is replaced when the partitions change.
 * All messages up to the floor of a partition are done: after a crash, reading can continue after it.
 */
export class PartitionedFollow implements Stoppable {
  readonly #options: PartitionedOptions;
  readonly #maxOpenBytes: number;
  readonly #maxOpen: number;
  readonly #partitions = new Map<number, Partition>();
  /** Closed partitions with unfinished messages. */
  readonly #closing = new Set<Partition>();
  /** Floors of closed partitions. */
  readonly #floors = new Map<number, number>();
  /** Partitions that the consumer reads, and the last sequence that it delivered. */
  readonly #followed = new Set<Partition>();
  #lastSeq = 0;
  #following: Following | undefined;
  /** Restarts run one at a time; requests during a pending restart share it. */
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

  /** Reads a partition after a sequence. Resolves when reading has begun, which waits for NATS, or when this is stopped. */
  async open(number: number, afterSequence: number): Promise<OpenPartition> {
    const partition: Partition = { number, position: afterSequence, floor: afterSequence, open: new Map(), onIdle: [] };
    this.#partitions.set(number, partition);
    await this.#restart();
    return { close: (signal) => this.#close(partition, signal) };
  }

  /** For each partition, the sequence up to which all its messages are done. Without newer messages it is that of the other partitions. */
  floors(): ReadonlyMap<number, number> {
    const floors = new Map(this.#floors);
    for (const partition of [...this.#partitions.values(), ...this.#closing])
      floors.set(partition.number, Math.max(floors.get(partition.number) ?? 0, this.#floorOf(partition)));
    return floors;
  }

  /** Messages of the partition up to this sequence will not be handed out anymore; 0: the partition is not open. */
  position(number: number): number {
    const partition = this.#partitions.get(number);
    return partition === undefined ? 0 : this.#positionOf(partition);
  }

  /** Bytes of unfinished messages. */
  get openBytes(): number {
    return this.#openBytes;
  }

  /** Hands out no more messages. Those that were handed out can still be finished, see `idle`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restart();
  }

  /** Resolves once all messages that were handed out are done. */
  async idle(): Promise<void> {
    await Promise.all([...this.#partitions.values(), ...this.#closing].map((partition) => idle(partition)));
  }

  async #close(partition: Partition, signal?: AbortSignal): Promise<void> {
    if (this.#partitions.get(partition.number) !== partition) return;
    partition.position = this.#positionOf(partition);
    this.#partitions.delete(partition.number);
    this.#followed.delete(partition);
    this.#closing.add(partition);
    void this.#restart(); // Never rejects.
    await (signal === undefined ? idle(partition) : Promise.race([idle(partition), aborted(signal)]));
    this.#floors.set(partition.number, Math.max(this.#floors.get(partition.number) ?? 0, this.#floorOf(partition)));
    this.#closing.delete(partition);
    this.#forget(partition);
  }

  /** Messages of a closed partition that are not done no longer count. */
  #forget({ open, onIdle }: Partition): void {
    for (const message of open.values()) if (!message.isDone) this.#openBytes -= message.bytes;
    this.#openMessages -= open.size;
    for (const message of open.values()) message.isDone = true;
    open.clear();
    for (const resolve of onIdle.splice(0)) resolve();
    this.#resume();
  }

  /** The consumer delivers in order: no message of its partitions below the last sequence will follow. */
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

  /** Never rejects: it is retried until it succeeds. */
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
    this.#resume();
  }

  #resume(): void {
    if (!this.#isPaused || !this.#hasRoom(1 / 2)) return;
    this.#isPaused = false;
    this.#following?.resume();
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
