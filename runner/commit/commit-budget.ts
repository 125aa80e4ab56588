import { partitionOf } from "../../domain/invocation/partition.ts";
import type { Histories, ProcessedCommits } from "../ports.ts";

export interface CommitBudgetOptions {
  /** Bytes of an owner's commits that this runner has appended and delivery has not processed. */
  readonly ownerBytes: number;
  /** Called when an owner exceeds the budget, and when half of it is free again. */
  readonly onChange: (owner: string, isOver: boolean) => void;
}

interface Appended {
  readonly sequence: number;
  readonly partition: number;
  readonly owner: string;
  readonly bytes: number;
}

const askEveryMs = 250;
/** While all owners together have used less than this part of one budget, no owner can be near it: delivery is not asked. */
const quietPart = 1 / 4;
/** More entries than this are looked through as well, so that small commits take no memory. */
const maxEntries = 4_096;

/**
 * Bounds how many bytes of one owner's commits wait for delivery, so that one owner cannot fill RUNS, which holds commits until they are
 * processed. Counts what this runner appends, and asks how far delivery has come only while much is counted.
 */
export class CommitBudget {
  readonly #processed: ProcessedCommits;
  readonly #options: CommitBudgetOptions;
  /** About in the order of sequences. */
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

  /** The same histories, whose commits are counted. */
  counting(histories: Histories): Histories {
    return {
      last: (owner, source) => histories.last(owner, source),
      append: (...[owner, source, commit, expected]) =>
        histories.append(owner, source, commit, expected).then((appended) => {
          if (appended.outcome === "stored") {
            const entry = { sequence: appended.sequence, partition: partitionOf(source), owner, bytes: Buffer.byteLength(commit) };
            this.#appended.push(entry);
            this.#count(entry, 1);
            this.#askSoon();
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
    const isOver = ownerBytes > this.#options.ownerBytes / (wasOver ? 2 : 1);
    if (isOver === wasOver) return;
    if (isOver) this.#over.add(owner);
    else this.#over.delete(owner);
    this.#options.onChange(owner, isOver);
  }

  #askSoon(): void {
    const isQuiet = this.#totalBytes < quietPart * this.#options.ownerBytes && this.#appended.length < maxEntries && this.#over.size === 0;
    if (isQuiet || this.#isStopped) return;
    this.#timer ??= setTimeout(() => void this.#ask(), askEveryMs); // Never rejects.
  }

  async #ask(): Promise<void> {
    try {
      const upTo = await this.#processed.upTo();
      const isProcessed = ({ sequence, partition }: Appended): boolean => sequence <= (upTo[partition] ?? 0);
      const before = this.#appended;
      this.#appended = before.filter((entry) => !isProcessed(entry));
      for (const entry of before) if (isProcessed(entry)) this.#count(entry, -1);
    } catch {
      // NATS is away, and nothing can be appended either: asked again.
    }
    this.#timer = undefined;
    this.#askSoon();
  }
}
