import { aborted } from "../retry.ts";
import { partitionsOf } from "./partition.ts";

/** Delay before the next attempt to open a partition. */
const retryMs = 1_000;
/** A member that holds a lost partition for longer than `handoverMs` plus this time is considered stalled. */
const handoverGraceMs = 2_000;
const waitStepMs = 100;

export interface ShareConfig {
  readonly member: string;
  /** How long a member may hold a partition that it has lost, while work on it ends. */
  readonly handoverMs: number;
  /** Absent: all partitions of a pool. */
  readonly count?: number;
}

/** Work on a partition. */
export interface PartitionWork {
  /** Starts no more work on the partition. Resolves once all work on it has ended. */
  stop(): Promise<void>;
}

export interface SharePorts<Work extends PartitionWork> {
  /**
   * Announces the member until it leaves; each heartbeat lists the partitions that it holds. Calls back with the ids of the members that
   * share the partitions: all live ones, including this one unless it is on standby.
   */
  readonly join: (member: ShareMember) => Promise<Joined>;
  /** Partitions that other live members hold. @throws Unavailable */
  readonly heldByOthers: () => Promise<ReadonlySet<number>>;
  /** Starts work on a partition. */
  readonly open: (partition: number) => Promise<Work>;
  /** Resolves after that time, or when the signal aborts. Never rejects. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

export interface ShareMember {
  readonly onMembers: (members: readonly string[]) => void;
  readonly holds: () => readonly number[];
}

export interface Joined {
  /** Sends a heartbeat within 100 ms. */
  reportSoon(): void;
  /** Resolves when a heartbeat with the partitions that are held now is stored. @throws Unavailable */
  report(): Promise<void>;
  /** The other members share the partitions from now on, and open each one when this member has released it. */
  retire(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * The partitions that a member works on: its share among the live members, by rendezvous hashing (decision 0011). The states of a partition:
 *
 *     idle ── assigned ──▶ waiting ── no other member holds it ──▶ open ── lost ──▶ releasing ── work has ended ──▶ idle
 *
 * A heartbeat that lists the partition as held is stored before work starts, and heartbeats list it until it is idle again. Only then does
 * the next member open it.
 */
export class PartitionShare<Work extends PartitionWork> {
  readonly #config: ShareConfig;
  readonly #ports: SharePorts<Work>;
  /** The partitions of this member's share. */
  readonly #share = new Map<number, Promise<Work | undefined>>();
  /** The partitions of the share whose work has started. */
  readonly #opened = new Map<number, Work>();
  readonly #held = new Set<number>();
  /** Each resolves when the partition is idle. */
  readonly #releasing = new Map<number, Promise<void>>();
  readonly #stopping = new AbortController();
  #members: readonly string[] = [];
  #isRetrying = false;
  #joining: Promise<Joined> | undefined;
  #joined: Joined | undefined;
  /** The next heartbeat, which several callers share. */
  #reporting: Promise<void> | undefined;

  constructor(config: ShareConfig, ports: SharePorts<Work>) {
    this.#config = config;
    this.#ports = ports;
  }

  /** Resolves once this member has announced itself. */
  async start(): Promise<void> {
    this.#joining = this.#ports.join({ onMembers: (members) => this.#divide(members), holds: () => [...this.#held] });
    this.#joined = await this.#joining;
  }

  /** Resolves once each partition of the current share is open, or its first attempt has failed. */
  async untilOpen(): Promise<void> {
    await Promise.allSettled(this.#share.values());
  }

  get opened(): ReadonlyMap<number, Work> {
    return this.#opened;
  }

  /** Number of live members; 1 before the members are known. */
  get memberCount(): number {
    return Math.max(1, this.#members.length);
  }

  reportSoon(): void {
    this.#joined?.reportSoon();
  }

  /** Call this when other members may have considered this one dead: it releases all partitions and opens its share again. */
  lapse(): void {
    for (const partition of this.#share.keys()) this.#drop(partition);
    this.#held.clear();
    this.#divide(this.#members);
  }

  /** Hands each partition over as soon as its work has ended, or when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    await this.#joined?.retire();
    for (const partition of this.#share.keys()) this.#drop(partition);
    await Promise.race([Promise.all(this.#releasing.values()), aborted(signal)]);
    await this.#joined?.leave();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #divide(members: readonly string[]): void {
    if (this.#isStopped) return;
    this.#members = members;
    const { member, count } = this.#config;
    const share = new Set(partitionsOf(member, members, count));
    for (const partition of this.#share.keys()) if (!share.has(partition)) this.#drop(partition);
    for (const partition of share) if (!this.#share.has(partition)) this.#take(partition);
  }

  #take(partition: number): void {
    const opening = this.#open(partition, () => this.#share.get(partition) === opening && !this.#isStopped);
    this.#share.set(partition, opening);
    const begin = (work: Work | undefined): void => {
      if (work !== undefined && this.#share.get(partition) === opening) this.#opened.set(partition, work);
    };
    opening.then(begin, (error: unknown) => {
      this.#ports.log.error({ op: "partition.read", partition, err: error }, "cannot read a partition: trying again");
      if (this.#share.get(partition) !== opening) return;
      this.#share.delete(partition);
      this.#held.delete(partition);
      void this.#divideLater(); // Never rejects.
    });
  }

  /** Undefined: the partition no longer belongs to this member. */
  async #open(partition: number, isOurs: () => boolean): Promise<Work | undefined> {
    const { heldByOthers, log, open, pause } = this.#ports;
    await this.#releasing.get(partition);
    for (let waitedMs = 0; !this.#held.has(partition); waitedMs += waitStepMs) {
      if (!(await heldByOthers()).has(partition)) break;
      if (!isOurs()) return undefined;
      if (waitedMs > this.#config.handoverMs + handoverGraceMs) {
        log.warn({ op: "partition.read", partition }, "another member has not released a partition in time: reading it anyway");
        break;
      }
      await pause(waitStepMs, this.#stopping.signal);
    }
    if (!isOurs()) return undefined;
    this.#held.add(partition);
    await this.#report();
    return open(partition);
  }

  /** Resolves when a heartbeat with the held partitions is stored. Callers of one turn share a heartbeat. @throws Unavailable */
  #report(): Promise<void> {
    return (this.#reporting ??= this.#ports.pause(0, this.#stopping.signal).then(async () => {
      this.#reporting = undefined;
      await (await this.#joining)?.report();
    }));
  }

  /** Retries without waiting for a change of the members, which may take days. */
  async #divideLater(): Promise<void> {
    if (this.#isRetrying || this.#isStopped) return;
    this.#isRetrying = true;
    await this.#ports.pause(retryMs, this.#stopping.signal);
    this.#isRetrying = false;
    this.#divide(this.#members);
  }

  #drop(partition: number): void {
    const opening = this.#share.get(partition);
    this.#share.delete(partition);
    this.#opened.delete(partition);
    const releasing = Promise.resolve(this.#releasing.get(partition)).then(() => this.#release(partition, opening));
    this.#releasing.set(partition, releasing);
    // Neither rejects: a failure is logged.
    void releasing.then(() => {
      if (this.#releasing.get(partition) === releasing) this.#releasing.delete(partition);
    });
  }

  async #release(partition: number, opening: Promise<Work | undefined> | undefined): Promise<void> {
    const released = new AbortController();
    await Promise.race([this.#end(partition, opening), this.#ports.pause(this.#config.handoverMs, released.signal)]);
    released.abort();
    if (this.#share.has(partition)) return; // Assigned to this member again in the meantime.
    this.#held.delete(partition);
    this.#joined?.reportSoon();
  }

  /** Never rejects. */
  async #end(partition: number, opening: Promise<Work | undefined> | undefined): Promise<void> {
    try {
      await (await opening)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "partition.drop", partition, err: error }, "cannot stop reading a partition");
    }
  }
}
