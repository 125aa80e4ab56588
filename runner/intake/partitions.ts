import { setTimeout as sleep } from "node:timers/promises";
import { partitionsOf } from "../../domain/partition.ts";
import type { Intake, IntakeMessage, IntakeReading, Joined, Log, Membership, RunnerConfig } from "../ports.ts";
import type { Backlog } from "./backlog.ts";

/** How long after a partition could not be read it is tried again. */
const retryMs = 1_000;
/** A partition counts as read to its end while no more messages than this are on their way. */
const maxUnread = 256;
/** A runner that lost a partition holds it no longer than this, while runs there end. */
const defaultHandoverMs = 10_000;
/** Another runner that holds a partition for this much longer has stalled. Reading it as well does no harm: commits are conditional. */
const handoverGraceMs = 2_000;
const waitStepMs = 100;

interface PartitionsPorts {
  readonly intake: Pick<Intake, "read">;
  readonly membership: Membership;
  readonly log: Log;
  readonly backlog: Backlog;
  /** Drops what waits of a partition's sources; resolves when none of them runs any more. */
  readonly release: (partition: number) => Promise<void>;
  readonly onMessage: (message: IntakeMessage) => void;
}

/**
 * Which partitions this runner reads: its share among the live runners, by rendezvous hashing (decision 0011).
 *
 * A partition is idle → waiting (another runner holds it) → reading → releasing (its runs end here) → idle. A heartbeat that lists it as
 * held is stored before the reading begins, and lists it until it is idle again: only then the next runner opens it.
 */
export class Partitions {
  readonly #config: RunnerConfig;
  readonly #ports: PartitionsPorts;
  readonly #reading = new Map<number, Promise<IntakeReading>>();
  /** Those whose reading has begun. */
  readonly #begun = new Map<number, IntakeReading>();
  readonly #held = new Set<number>();
  /** Each resolves when the partition is idle here. */
  readonly #dropping = new Map<number, Promise<void>>();
  #runners: readonly string[] = [];
  #retry: NodeJS.Timeout | undefined;
  #joining: Promise<Joined> | undefined;
  #joined: Joined | undefined;
  /** A heartbeat that is about to be sent. */
  #reporting: Promise<void> | undefined;
  readonly #handoverMs: number;
  #stopped = false;

  constructor(config: RunnerConfig, ports: PartitionsPorts) {
    this.#config = config;
    this.#handoverMs = config.handoverMs ?? defaultHandoverMs;
    this.#ports = ports;
  }

  /** Resolves once this runner has announced itself and reads its share. */
  async start(): Promise<void> {
    const { runner } = this.#config;
    const { membership, backlog } = this.#ports;
    this.#joining = membership.join(runner, {
      onMembers: (runners) => this.#share(runners),
      report: () => ({ holds: [...this.#held], backlog: backlog.report(this.#readToTheEnd()) }),
    });
    this.#joined = await this.#joining;
    await Promise.allSettled(this.#reading.values());
  }

  /** To be called when the backlog has room again, or something else to report. */
  onBacklogChange(): void {
    if (this.#ports.backlog.hasRoom) for (const reading of this.#begun.values()) reading.resume();
    this.#joined?.reportSoon();
  }

  /** Others take each partition over as soon as its runs here have ended, or when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#joined?.retire();
    for (const partition of this.#reading.keys()) this.#drop(partition);
    await Promise.race([Promise.all(this.#dropping.values()), aborted(signal)]);
    await this.#joined?.leave();
  }

  #share(runners: readonly string[]): void {
    if (this.#stopped) return;
    this.#runners = runners;
    const { runner } = this.#config;
    // A runner that stands by is not among them (standby.ts), and reads nothing.
    const share = new Set(partitionsOf(runner, runners));
    for (const partition of this.#reading.keys()) if (!share.has(partition)) this.#drop(partition);
    for (const partition of share) if (!this.#reading.has(partition)) this.#read(partition);
  }

  #read(partition: number): void {
    const reading = this.#open(partition, () => this.#reading.get(partition) === reading && !this.#stopped);
    this.#reading.set(partition, reading);
    const begin = (begun: IntakeReading): void => {
      if (this.#reading.get(partition) === reading) this.#begun.set(partition, begun);
    };
    reading.then(begin, (error: unknown) => {
      this.#ports.log.error({ op: "partition.read", partition, err: error }, "cannot read a partition: trying again");
      if (this.#reading.get(partition) !== reading) return;
      this.#reading.delete(partition);
      this.#held.delete(partition);
      // Membership may not change for days.
      if (!this.#stopped) this.#retry ??= setTimeout(() => this.#readAgain(), retryMs);
    });
  }

  async #open(partition: number, shouldRead: () => boolean): Promise<IntakeReading> {
    const { intake, backlog, membership, onMessage, log } = this.#ports;
    await this.#dropping.get(partition);
    for (const deadline = performance.now() + this.#handoverMs + handoverGraceMs; !this.#held.has(partition);) {
      if (!(await membership.heldByOthers(this.#config.runner)).has(partition)) break;
      if (!shouldRead()) return nothingRead;
      if (performance.now() > deadline) {
        log.warn({ op: "partition.read", partition }, "another runner has not released a partition in time: reading it all the same");
        break;
      }
      await sleep(waitStepMs);
    }
    if (!shouldRead()) return nothingRead;
    this.#held.add(partition);
    await this.#report();
    return intake.read(partition, onMessage, () => backlog.hasRoom);
  }

  /** Resolves when a heartbeat with all that is held by now is stored; several callers share one. @throws Unavailable */
  #report(): Promise<void> {
    return (this.#reporting ??= new Promise((resolve) => setImmediate(resolve)).then(async () => {
      this.#reporting = undefined;
      await (await this.#joining)?.report();
    }));
  }

  #readAgain(): void {
    this.#retry = undefined;
    this.#share(this.#runners);
  }

  #readToTheEnd(): readonly number[] {
    return [...this.#begun].filter(([, reading]) => reading.unread() <= maxUnread).map(([partition]) => partition);
  }

  #drop(partition: number): void {
    const reading = this.#reading.get(partition);
    this.#reading.delete(partition);
    this.#begun.delete(partition);
    const dropping = Promise.resolve(this.#dropping.get(partition)).then(() => this.#release(partition, reading));
    this.#dropping.set(partition, dropping);
    // Neither rejects: a failure is logged.
    void dropping.then(() => {
      if (this.#dropping.get(partition) === dropping) this.#dropping.delete(partition);
    });
  }

  async #release(partition: number, reading: Promise<IntakeReading> | undefined): Promise<void> {
    try {
      await (await reading)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "partition.drop", partition, err: error }, "cannot stop reading a partition");
    }
    const tooLate = new AbortController();
    await Promise.race([
      this.#ports.release(partition),
      sleep(this.#handoverMs, undefined, { signal: tooLate.signal }).catch(() => undefined),
    ]);
    tooLate.abort();
    if (this.#reading.has(partition)) return; // This runner's again in the meantime.
    this.#held.delete(partition);
    this.#joined?.reportSoon();
  }
}

const nothingRead: IntakeReading = { stop: () => Promise.resolve(), unread: () => 0, resume: () => undefined };

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
