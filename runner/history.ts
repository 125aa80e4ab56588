import { emptyState, type Commit, type SourceState } from "../domain/commit.ts";
import { Invariant } from "../domain/errors.ts";
import { forget } from "../domain/answered.ts";
import type { Clock } from "../domain/clock.ts";
import type { Histories } from "./ports.ts";
import type { Progress } from "./progress.ts";

/** A server that dies forgets the acks of its last moments; after this long, all that time in touch with it, it has kept one. */
const settledAfterMs = 2_000;
/**
 * Whatever the server forgot was acked, or another runner had and lost, is delivered again within its ack wait (10 s), or when it was told
 * to come again (after 40 s), or never.
 */
const inheritedAfterMs = 65_000;

export interface HistoryPorts {
  readonly histories: Histories;
  readonly clock: Clock;
  readonly isOpen: (seq: number) => boolean;
  /** Of the source's partition; undefined: not known yet. Absent: no other runner holds anything. */
  readonly progress?: () => Progress | undefined;
  /** Something of the source lies aside that this runner has not looked at, and that may be answered. Absent: nothing ever does. */
  readonly mayLieAside?: () => boolean;
}

/**
 * One source's history as this runner knows it: the state after its last commit and the sequence the next commit expects.
 * It may be stale at any time, since another runner may extend the history; then `append` is refused and it is loaded again.
 */
export class History {
  readonly source: string;
  readonly owner: string;
  readonly #histories: Histories;
  readonly #clock: Clock;
  readonly #isOpen: (seq: number) => boolean;
  /** Stream sequence → epoch ms from which on it cannot be delivered again. */
  readonly #settledAt = new Map<number, number>();
  readonly #progress: HistoryPorts["progress"];
  readonly #mayLieAside: NonNullable<HistoryPorts["mayLieAside"]>;
  /** Messages that another runner may hold, for as long as something else in them runs there. */
  readonly #heldElsewhere = new Set<number>();
  /** Epoch ms since which that is so of the last of them. */
  #heldSince = 0;
  /** When all messages up to this one are acked, none of them is held any more; undefined until it is known. */
  #heldUpTo: number | undefined;
  #state: SourceState = emptyState;
  #sequence = 0;
  #isInterrupted = false;

  /** @param isOpen whether this runner holds the message of that sequence: then it is not settled, however long it waits here */
  constructor(source: string, owner: string, { histories, clock, isOpen, progress, mayLieAside = () => false }: HistoryPorts) {
    this.source = source;
    this.owner = owner;
    this.#histories = histories;
    this.#clock = clock;
    this.#isOpen = isOpen;
    this.#progress = progress;
    this.#mayLieAside = mayLieAside;
  }

  get state(): SourceState {
    return this.#state;
  }

  async load(): Promise<void> {
    const { commit, sequence } = await this.#histories.last(this.owner, this.source);
    this.#state = commit === undefined ? emptyState : parseCommit(commit).state;
    this.#sequence = sequence;
    this.#inherit(this.#state.answered.filter(([seq]) => !this.#settledAt.has(seq)));
  }

  /** The message of this sequence was acked: soon nobody will be given it again, unless the server is out of reach. */
  settle(seq: number): void {
    if (this.#isInterrupted) return;
    this.#settledAt.set(seq, this.#clock.now() + settledAfterMs);
    this.#heldElsewhere.delete(seq);
  }

  /** The server is out of reach: whatever it was told last, it may have forgotten. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#settledAt.clear();
  }

  /** The server is back. */
  resume(): void {
    this.#isInterrupted = false;
    this.#inherit(this.#state.answered);
  }

  /** The message of this sequence is about to come again: whatever was thought, it is not settled. */
  expect(seq: number): void {
    if (this.#settledAt.has(seq)) this.#inherit([[seq, 0]]);
  }

  /** The answered invocations that may still be delivered again: the next commit must remember just these. */
  unsettled(): SourceState["answered"] {
    const now = this.#clock.now();
    const noneIsHeld = this.#heldElsewhere.size === 0 || this.#isNoneHeld();
    return forget(this.#state.answered, (seq) => {
      const cannotCome = (this.#settledAt.get(seq) ?? Number.POSITIVE_INFINITY) <= now && (noneIsHeld || !this.#heldElsewhere.has(seq));
      const settled = cannotCome && !this.#isOpen(seq);
      if (settled) this.#settledAt.delete(seq);
      if (settled) this.#heldElsewhere.delete(seq);
      return settled;
    });
  }

  /** By what the server says since: all that was handed out by then is acked. And nothing lies aside. */
  #isNoneHeld(): boolean {
    if (this.#mayLieAside()) return false;
    if (this.#progress === undefined) return true;
    const progress = this.#progress();
    if (progress === undefined || progress.askedAt <= this.#heldSince) return false;
    this.#heldUpTo ??= progress.handedOut;
    return progress.settled >= this.#heldUpTo;
  }

  #inherit(answered: SourceState["answered"]): void {
    const now = this.#clock.now();
    if (answered.length === 0) return;
    this.#heldSince = now;
    this.#heldUpTo = undefined;
    for (const [seq] of answered) {
      this.#settledAt.set(seq, now + inheritedAfterMs);
      this.#heldElsewhere.add(seq);
    }
  }

  /** @returns false when somebody else extended the history first: load and run again. */
  async append(commit: Commit): Promise<boolean> {
    const text = JSON.stringify(commit);
    const appended = await this.#histories.append(this.owner, this.source, text, this.#sequence);
    if (appended.outcome === "refused") return false;
    this.#state = commit.state;
    this.#sequence = appended.sequence;
    return true;
  }
}

function parseCommit(text: string): Commit {
  const commit = JSON.parse(text) as Commit; // Written by a runner from a typed value.
  if (typeof commit.state !== "object") throw new Invariant(`a commit without state: ${text.slice(0, 200)}`);
  return commit;
}
