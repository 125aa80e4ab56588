import { partitionsOf } from "./partition.ts";

/** How long after a partition could not be opened it is tried again. */
const retryMs = 1_000;
/** A member that holds a partition for this much longer than it may has stalled. */
const handoverGraceMs = 2_000;
const waitStepMs = 100;

export interface ShareConfig {
  readonly member: string;
  /** A member that lost a partition holds it no longer than this, while work on it ends. */
  readonly handoverMs: number;
  /** Absent: all partitions of a pool. */
  readonly count?: number;
}

/** Work on a partition. */
export interface PartitionWork {
  /** Takes up no more of it. Resolves once no work on the partition is left. */
  stop(): Promise<void>;
}

export interface SharePorts<Work extends PartitionWork> {
  /**
   * Announces the member until it leaves; each heartbeat lists what it holds. Calls back with the ids of the members that divide the
   * partitions among themselves: all live ones, this one as well unless it is not to have any.
   */
  readonly join: (member: ShareMember) => Promise<Joined>;
  /** Partitions that other live members hold. @throws Unavailable */
  readonly heldByOthers: () => Promise<ReadonlySet<number>>;
  /** Begins to work on a partition. */
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
  /** What is held has changed: sends a heartbeat within 100 ms. */
  reportSoon(): void;
  /** Resolves when a heartbeat with what is held now is stored. @throws Unavailable */
  report(): Promise<void>;
  /** Others divide the partitions among themselves from now on, and open each when this member does not hold it any more. */
  retire(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * Which partitions a member works on: its share among the live members, by rendezvous hashing (decision 0011).
 *
 * A partition is idle → waiting (another member holds it) → open → releasing (work on it ends here) → idle. A heartbeat that lists it as
 * held is stored before the work begins, and lists it until it is idle again: only then the next member opens it.
 */
export class PartitionShare<Work extends PartitionWork> {
  readonly #config: ShareConfig;
  readonly #ports: SharePorts<Work>;
  /** Those of this member's share. */
  readonly #share = new Map<number, Promise<Work | undefined>>();
  /** Those of the share whose work has begun. */
  readonly #opened = new Map<number, Work>();
  readonly #held = new Set<number>();
  /** Each resolves when the partition is idle here. */
  readonly #dropping = new Map<number, Promise<void>>();
  readonly #stopping = new AbortController();
  #members: readonly string[] = [];
  #isRetrying = false;
  #joining: Promise<Joined> | undefined;
  #joined: Joined | undefined;
  /** A heartbeat that is about to be sent. */
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

  /** Resolves once the share that there is by now is open, or could not be opened at first. */
  async untilOpen(): Promise<void> {
    await Promise.allSettled(this.#share.values());
  }

  get opened(): ReadonlyMap<number, Work> {
    return this.#opened;
  }

  /** Live members, as far as is known; 1 before that. */
  get memberCount(): number {
    return Math.max(1, this.#members.length);
  }

  reportSoon(): void {
    this.#joined?.reportSoon();
  }

  /** Others may have taken this member for dead: it gives up all partitions and opens its share again when others have released it. */
  lapse(): void {
    for (const partition of this.#share.keys()) this.#drop(partition);
    this.#held.clear();
    this.#divide(this.#members);
  }

  /** Others take each partition over as soon as its work here has ended, or when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    await this.#joined?.retire();
    for (const partition of this.#share.keys()) this.#drop(partition);
    await Promise.race([Promise.all(this.#dropping.values()), aborted(signal)]);
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

  /** Undefined: it is not this member's any more. */
  async #open(partition: number, isOurs: () => boolean): Promise<Work | undefined> {
    const { heldByOthers, log, open, pause } = this.#ports;
    await this.#dropping.get(partition);
    for (let waitedMs = 0; !this.#held.has(partition); waitedMs += waitStepMs) {
      if (!(await heldByOthers()).has(partition)) break;
      if (!isOurs()) return undefined;
      if (waitedMs > this.#config.handoverMs + handoverGraceMs) {
        log.warn({ op: "partition.read", partition }, "another member has not released a partition in time: reading it all the same");
        break;
      }
      await pause(waitStepMs, this.#stopping.signal);
    }
    if (!isOurs()) return undefined;
    this.#held.add(partition);
    await this.#report();
    return open(partition);
  }

  /** Resolves when a heartbeat with all that is held by now is stored; several callers share one. @throws Unavailable */
  #report(): Promise<void> {
    return (this.#reporting ??= new Promise<void>((resolve) => setTimeout(resolve)).then(async () => {
      this.#reporting = undefined;
      await (await this.#joining)?.report();
    }));
  }

  /** Members may not change for days. */
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
    const dropping = Promise.resolve(this.#dropping.get(partition)).then(() => this.#release(partition, opening));
    this.#dropping.set(partition, dropping);
    // Neither rejects: a failure is logged.
    void dropping.then(() => {
      if (this.#dropping.get(partition) === dropping) this.#dropping.delete(partition);
    });
  }

  async #release(partition: number, opening: Promise<Work | undefined> | undefined): Promise<void> {
    const released = new AbortController();
    await Promise.race([this.#end(partition, opening), this.#ports.pause(this.#config.handoverMs, released.signal)]);
    released.abort();
    if (this.#share.has(partition)) return; // This member's again in the meantime.
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
