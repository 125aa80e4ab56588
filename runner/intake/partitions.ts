import { PartitionShare, type PartitionWork } from "../../domain/invocation/partition-share.ts";
import { pause } from "../../domain/retry.ts";
import type { Intake, IntakeMessage, IntakeReading, Log, Membership, RunnerConfig } from "../ports.ts";
import type { Backlog } from "../schedule/backlog.ts";

/** A partition counts as read to its end while no more messages than this are on their way. */
const maxUnread = 256;
/** A runner that lost a partition holds it no longer than this, while runs there end. Read by two at once it does no harm: commits are conditional. */
const defaultHandoverMs = 10_000;

interface PartitionsPorts {
  readonly intake: Pick<Intake, "read">;
  readonly membership: Membership;
  readonly log: Log;
  readonly backlog: Backlog;
  /** Drops what waits of a partition's sources; resolves when none of them runs any more. */
  readonly release: (partition: number) => Promise<void>;
  readonly onMessage: (message: IntakeMessage) => void;
}

interface PartitionIntake extends PartitionWork {
  readonly reading: IntakeReading;
}

/** The partitions that this runner reads, and what it reports about them. */
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
    await this.#share.start();
    await this.#share.untilOpen();
  }

  /** To be called when the backlog has room again, or something else to report. */
  onBacklogChange(): void {
    if (this.#ports.backlog.hasRoom) for (const { reading } of this.#share.opened.values()) reading.resume();
    this.#share.reportSoon();
  }

  /** Others take each partition over as soon as its runs here have ended, or when the signal aborts. */
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
