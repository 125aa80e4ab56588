import type { WebhookFailures } from "../../domain/delivery/webhook-failures.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { partitionCount } from "../../domain/subjects.ts";
import type { DeadLetter } from "../../delivery/record/dead-letter.ts";
import type { RecordedCommit } from "../../delivery/record/ports.ts";

/** The tables of Postgres that delivery writes. */
export class HistoryModel {
  readonly #positions: number[] = Array.from({ length: partitionCount }, () => 0);
  readonly commits: RecordedCommit[] = [];
  readonly deadLetters: DeadLetter[] = [];
  readonly failing = new Map<string, WebhookFailures>();

  positions(): readonly number[] {
    return [...this.#positions];
  }

  /** One transaction, which leaves out partitions whose position is not the expected one, and commits up to their position. */
  recordCommits(commits: readonly RecordedCommit[], expected: ReadonlyMap<number, number>): readonly number[] {
    const refused = [...expected]
      .filter(([partition, position]) => this.#positions[partition] !== position)
      .map(([partition]) => partition);
    const before = this.positions();
    for (const recorded of commits) {
      const partition = partitionOf(recorded.commit.source);
      if (refused.includes(partition) || recorded.seq <= (before[partition] ?? 0)) continue;
      this.commits.push(recorded);
      this.#positions[partition] = recorded.seq;
    }
    return refused;
  }

  saveFailing(failing: readonly WebhookFailures[], recovered: readonly WebhookFailures[]): void {
    for (const { webhook } of recovered) this.failing.delete(webhook);
    for (const failures of failing) this.failing.set(failures.webhook, failures);
  }
}
