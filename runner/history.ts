import { emptyState, type Commit, type SourceState } from "../domain/commit.ts";
import { Invariant } from "../domain/errors.ts";
import { forget } from "../domain/answered.ts";
import type { Clock } from "../domain/clock.ts";
import type { Histories } from "./ports.ts";

/** A server that dies forgets the acks of its last moments; after this long, all that time in touch with it, it has kept one. */
const settledAfterMs = 2_000;
/**
 * Whatever another runner held, or the server forgot was acked, is delivered again within its ack wait (10 s), or when it was told to come
 * again (after 40 s), or never.
 */
const inheritedAfterMs = 65_000;

export interface HistoryPorts {
  readonly histories: Histories;
  readonly clock: Clock;
  readonly isOpen: (seq: number) => boolean;
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
  #state: SourceState = emptyState;
  #sequence = 0;
  #isInterrupted = false;

  /** @param isOpen whether this runner holds the message of that sequence: then it is not settled, however long it waits here */
  constructor(source: string, owner: string, { histories, clock, isOpen }: HistoryPorts) {
    this.source = source;
    this.owner = owner;
    this.#histories = histories;
    this.#clock = clock;
    this.#isOpen = isOpen;
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
    if (!this.#isInterrupted) this.#settledAt.set(seq, this.#clock.now() + settledAfterMs);
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
    if (this.#settledAt.has(seq)) this.#settledAt.set(seq, this.#clock.now() + inheritedAfterMs);
  }

  /** The answered invocations that may still be delivered again: the next commit must remember just these. */
  unsettled(): SourceState["answered"] {
    const now = this.#clock.now();
    return forget(this.#state.answered, (seq) => {
      const settled = !this.#isOpen(seq) && (this.#settledAt.get(seq) ?? Number.POSITIVE_INFINITY) <= now;
      if (settled) this.#settledAt.delete(seq);
      return settled;
    });
  }

  #inherit(answered: SourceState["answered"]): void {
    const settled = this.#clock.now() + inheritedAfterMs;
    for (const [seq] of answered) this.#settledAt.set(seq, settled);
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
