import { pause } from "../../domain/retry.ts";
import { PartitionShare, type PartitionWork } from "../../domain/invocation/partition-share.ts";
import type { Log } from "../../domain/log.ts";
import type { RunnerConfig } from "../ports.ts";
import type { Backlog } from "../schedule/backlog.ts";
import type { Intake, IntakeMessage, IntakeReading, Membership } from "./ports.ts";

/** A partition counts as read to the end while at most this many messages are unread. */
const maxUnread = 256;
/** How long a runner may hold a partition that it has lost, while runs end. Two readers do no harm, because commits are conditional. */
const defaultHandoverMs = 10_000;

interface PartitionsPorts {
  readonly intake: Pick<Intake, "read">;
  readonly membership: Membership;
  readonly log: Log;
  readonly backlog: Backlog;
  /** Releases the queued invocations of a partition. Resolves when none of its sources runs. */
  readonly release: (partition: number) => Promise<void>;
  readonly onMessage: (message: IntakeMessage) => void;
}

interface PartitionIntake extends PartitionWork {
  readonly reading: IntakeReading;
}

/** Reads this runner's share of the partitions, and reports on them in heartbeats. */
export class Partitions {
  readonly #ports: PartitionsPorts;
  readonly #share: PartitionShare<PartitionIntake>;

  constructor({ runner, handoverMs = defaultHandoverMs }: Pick<RunnerConfig, "runner" | "handoverMs">, ports: PartitionsPorts) {
    const { backlog, membership, log } = ports;
    this.#ports = ports;
    this.#share = new PartitionShare(
      { member: runner, handoverMs },
      {
        join: ({ onMembers, holds }) =>
          membership.join(runner, { onMembers, report: () => ({ holds: holds(), backlog: backlog.report(this.#readToTheEnd()) }) }),
        heldByOthers: () => membership.heldByOthers(runner),
        open: (partition) => this.#open(partition),
        pause,
        log,
      },
    );
  }

  /** Resolves once this runner has announced itself and reads its share. */
  async start(): Promise<void> {
    this.#ports.backlog.subscribe(() => this.#onBacklogChange());
    await this.#share.start();
    await this.#share.untilOpen();
  }

  #onBacklogChange(): void {
    if (this.#ports.backlog.hasRoom) for (const { reading } of this.#share.opened.values()) reading.resume();
    this.#share.reportSoon();
  }

  /** Hands each partition over as soon as its runs have ended, or when the signal aborts. */
  stop(signal: AbortSignal): Promise<void> {
    return this.#share.stop(signal);
  }

  async #open(partition: number): Promise<PartitionIntake> {
    const { intake, backlog, onMessage, release } = this.#ports;
    const reading = await intake.read(partition, onMessage, () => backlog.hasRoom);
    return {
      reading,
      stop: async () => {
        await reading.stop();
        await release(partition);
      },
    };
  }

  #readToTheEnd(): readonly number[] {
    return [...this.#share.opened].filter(([, { reading }]) => reading.unread() <= maxUnread).map(([partition]) => partition);
  }
}
