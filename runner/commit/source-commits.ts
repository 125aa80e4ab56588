import { emptyState, type Commit, type SourceState } from "../../domain/run/commit.ts";
import { Invariant } from "../../domain/errors.ts";
import type { Histories } from "../ports.ts";

/**
 * One source's history as this runner knows it: the state after its last commit and the sequence the next commit expects.
 * It may be stale at any time, since another runner may extend the history; then `append` is refused and it is loaded again.
 */
export class History {
  readonly source: string;
  readonly owner: string;
  readonly #histories: Histories;
  #state: SourceState = emptyState;
  #sequence = 0;

  constructor(source: string, owner: string, histories: Histories) {
    this.source = source;
    this.owner = owner;
    this.#histories = histories;
  }

  get state(): SourceState {
    return this.#state;
  }

  async load(): Promise<void> {
    const { commit, sequence } = await this.#histories.last(this.owner, this.source);
    this.#state = commit === undefined ? emptyState : parseCommit(commit).state;
    this.#sequence = sequence;
  }

  /** @returns false when another runner extended the history first: load and run again. */
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
