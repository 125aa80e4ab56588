import { partitionsOf } from "../domain/partition.ts";
import type { Backlog } from "./intake/backlog.ts";
import type { Intake, IntakeMessage, IntakeReading, Joined, Log, Membership, RunnerConfig } from "./ports.ts";

/** How long after a partition could not be read it is tried again. */
const retryMs = 1_000;
/** A partition counts as read to its end while no more messages than this are on their way. */
const maxUnread = 256;

interface PartitionsPorts {
  readonly intake: Pick<Intake, "read">;
  readonly membership: Membership;
  readonly log: Log;
  readonly backlog: Backlog;
}

/**
 * Which partitions this runner pulls: its share among the live runners, by rendezvous hashing. When runners come or go, shares
 * change one after the other; two runners may pull one partition for a moment, which the expected sequence of commits makes harmless.
 */
export class Partitions {
  readonly #config: RunnerConfig;
  readonly #ports: PartitionsPorts;
  readonly #onMessage: (message: IntakeMessage) => void;
  readonly #reading = new Map<number, Promise<IntakeReading>>();
  /** Those whose reading has begun. */
  readonly #begun = new Map<number, IntakeReading>();
  #runners: readonly string[] = [];
  #retry: NodeJS.Timeout | undefined;
  #joined: Joined | undefined;
  #stopped = false;

  constructor(config: RunnerConfig, ports: PartitionsPorts, onMessage: (message: IntakeMessage) => void) {
    this.#config = config;
    this.#ports = ports;
    this.#onMessage = onMessage;
  }

  /** Resolves once this runner has announced itself and pulls its share. */
  async start(): Promise<void> {
    const { runner } = this.#config;
    const { membership, backlog } = this.#ports;
    this.#joined = await membership.join(runner, {
      onMembers: (runners) => this.#share(runners),
      backlog: () => backlog.report(this.#readToTheEnd()),
    });
    await Promise.all(this.#reading.values());
  }

  /** To be called when the backlog has room again, or something else to report. */
  onBacklogChange(): void {
    if (this.#ports.backlog.hasRoom) for (const reading of this.#begun.values()) reading.resume();
    this.#joined?.reportSoon();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#joined?.leave();
    await Promise.all([...this.#reading.keys()].map((partition) => this.#drop(partition)));
  }

  #share(runners: readonly string[]): void {
    if (this.#stopped) return;
    this.#runners = runners;
    const { runner } = this.#config;
    const share = new Set(partitionsOf(runner, runners.includes(runner) ? runners : [...runners, runner]));
    for (const partition of this.#reading.keys()) if (!share.has(partition)) void this.#drop(partition); // Logs its own failure.
    for (const partition of share) if (!this.#reading.has(partition)) this.#read(partition);
  }

  #read(partition: number): void {
    const { intake, backlog } = this.#ports;
    const reading = intake.read(partition, this.#onMessage, () => backlog.hasRoom);
    this.#reading.set(partition, reading);
    const begin = (begun: IntakeReading): void => {
      if (this.#reading.get(partition) === reading) this.#begun.set(partition, begun);
    };
    reading.then(begin, (error: unknown) => {
      this.#ports.log.error({ op: "partition.read", partition, err: error }, "cannot pull a partition: it is tried again");
      if (this.#reading.get(partition) !== reading) return;
      this.#reading.delete(partition);
      // Nobody else pulls it, and nobody might come or go for days.
      if (!this.#stopped) this.#retry ??= setTimeout(() => this.#readAgain(), retryMs);
    });
  }

  #readAgain(): void {
    this.#retry = undefined;
    this.#share(this.#runners);
  }

  #readToTheEnd(): readonly number[] {
    return [...this.#begun].filter(([, reading]) => reading.unread() <= maxUnread).map(([partition]) => partition);
  }

  async #drop(partition: number): Promise<void> {
    const reading = this.#reading.get(partition);
    this.#reading.delete(partition);
    this.#begun.delete(partition);
    try {
      await (await reading)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "partition.drop", partition, err: error }, "cannot stop pulling a partition");
    }
  }
}
