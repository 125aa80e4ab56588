import { partitionOf } from "../../domain/invocation/partition.ts";
import type { CommitStore, ProcessedCommits } from "./ports.ts";

export interface CommitBudgetOptions {
  /** Maximum bytes of an owner's commits that this runner has appended and delivery has not processed. */
  readonly maxOwnerBytes: number;
  /** Called when an owner exceeds the budget, and when half of the budget is free again. */
  readonly onChange: (owner: string, isOver: boolean) => void;
}

interface Appended {
  readonly sequence: number;
  readonly partition: number;
  readonly owner: string;
  readonly bytes: number;
}

const pollMs = 250;
/** While all owners together use less than this share of one budget, no owner can be near it, and the floors are not polled. */
const minPolledShare = 1 / 4;
/** With more entries than this the floors are polled as well, so that small commits do not take up memory. */
const maxEntries = 4_096;

/**
 * Limits the bytes of each owner's commits that wait for delivery. RUNS keeps commits until they are processed, so one owner could
 * otherwise fill it. Counts what this runner appends, and polls delivery's floors while much is counted.
 */
export class CommitBudget {
  readonly #processed: ProcessedCommits;
  readonly #options: CommitBudgetOptions;
  #appended: Appended[] = [];
  readonly #bytes = new Map<string, number>();
  readonly #over = new Set<string>();
  #totalBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(processed: ProcessedCommits, options: CommitBudgetOptions) {
    this.#processed = processed;
    this.#options = options;
  }

  isOver(owner: string): boolean {
    return this.#over.has(owner);
  }

  /** Wraps a commit store so that its commits are counted. */
  counting(commits: CommitStore): CommitStore {
    return {
      ...commits,
      append: (...[owner, source, commit, expected, isFirst]) =>
        commits.append(owner, source, commit, expected, isFirst).then((appended) => {
          if (appended.outcome === "stored") {
            const entry = { sequence: appended.sequence, partition: partitionOf(source), owner, bytes: Buffer.byteLength(commit) };
            this.#appended.push(entry);
            this.#count(entry, 1);
            this.#pollLater();
          }
          return appended;
        }),
    };
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #count({ owner, bytes }: Appended, by: 1 | -1): void {
    const ownerBytes = (this.#bytes.get(owner) ?? 0) + by * bytes;
    this.#totalBytes += by * bytes;
    if (ownerBytes > 0) this.#bytes.set(owner, ownerBytes);
    else this.#bytes.delete(owner);
    const wasOver = this.#over.has(owner);
    const isOver = ownerBytes > this.#options.maxOwnerBytes / (wasOver ? 2 : 1);
    if (isOver === wasOver) return;
    if (isOver) this.#over.add(owner);
    else this.#over.delete(owner);
    this.#options.onChange(owner, isOver);
  }

  #pollLater(): void {
    const isIdle =
      this.#totalBytes < minPolledShare * this.#options.maxOwnerBytes && this.#appended.length < maxEntries && this.#over.size === 0;
    if (isIdle || this.#isStopped) return;
    this.#timer ??= setTimeout(() => void this.#poll(), pollMs); // Never rejects.
  }

  async #poll(): Promise<void> {
    try {
      const upTo = await this.#processed.upTo();
      const isProcessed = ({ sequence, partition }: Appended): boolean => sequence <= (upTo[partition] ?? 0);
      const before = this.#appended;
      this.#appended = before.filter((entry) => !isProcessed(entry));
      for (const entry of before) if (isProcessed(entry)) this.#count(entry, -1);
    } catch {
      // NATS is down, so nothing can be appended either. The next poll tries again.
    }
    this.#timer = undefined;
    this.#pollLater();
  }
}
