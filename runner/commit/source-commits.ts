import { LRUCache } from "lru-cache";
import { Invariant, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import type { RunError } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { retry } from "../../domain/retry.ts";
import { emptyState, type Commit, type SourceState } from "../../domain/run/commit.ts";
import type { Appended, CommitStore, EndMarker } from "./ports.ts";

const maxAttempts = 3;
/** How long a commit waits for room in RUNS. Running the invocation again instead would repeat the effects of user code. */
const maxRoomWaitMs = 60_000;
const roomPollMs = 500;

/**
 * The commits of one source, or of one run of a workflow, as this runner last saw them: the state after the last commit and the sequence
 * that the next one expects. They can be out of date, because another runner may commit at any time. Then `append` is refused.
 *
 *     new ── load ──▶ current ── append: stored ──▶ current
 *                        │
 *                        └── append: refused ──▶ out of date ── load ──▶ current
 */
export class CommitHistory<Stored extends { readonly state: unknown }> {
  readonly source: string;
  readonly owner: string;
  readonly #store: CommitStore;
  readonly #parse: (text: string) => Stored;
  #last: Stored | undefined;
  #sequence = 0;
  #isKnownEmpty = false;

  /** @param source as in `CommitStore` */
  constructor(source: string, owner: string, store: CommitStore, parse: (text: string) => Stored) {
    this.source = source;
    this.owner = owner;
    this.#store = store;
    this.#parse = parse;
  }

  /** Undefined before the first commit. */
  get last(): Stored | undefined {
    return this.#last;
  }

  /** The caller is certain that there is no commit: nothing needs to be loaded. */
  beginEmpty(): void {
    this.#isKnownEmpty = true;
  }

  async load(): Promise<void> {
    const { commit, sequence } = await this.#store.last(this.owner, this.source);
    this.#last = commit === undefined ? undefined : this.#parse(commit);
    this.#sequence = sequence;
    this.#isKnownEmpty = false;
  }

  /**
   * Appends a commit. If it is not known whether the commit was stored, the same commit is sent again: it cannot be stored twice, because
   * both expect the same sequence.
   *
   * @param replacements make the commit that is stored instead of one that is too large for NATS: the first that fits. Without them, the
   * invocation would fail forever
   * @returns the stored commit; undefined if another runner committed first: load and run again
   */
  async append(commit: Stored, ...replacements: readonly ((error: RunError) => Stored)[]): Promise<Stored | undefined> {
    const [replace, ...others] = replacements;
    try {
      return await this.#append(commit);
    } catch (error) {
      if (!(error instanceof LimitExceeded) || replace === undefined) throw error;
      return this.append(replace(tooLarge(commit)), ...others);
    }
  }

  /** Marks it as ended, after its last commit. @throws Unavailable */
  end(marker: EndMarker): Promise<void> {
    return this.#store.end(this.owner, this.source, this.#sequence, marker);
  }

  async #append(commit: Stored): Promise<Stored | undefined> {
    const text = JSON.stringify(commit);
    const publish = (): Promise<Appended> => this.#store.append(this.owner, this.source, text, this.#sequence, this.#isKnownEmpty);
    const resend = (): Promise<Appended> => retry(publish, { firstMs: 0, maxAttempts, isTransient: isUnanswered });
    const appended = await retry(resend, { firstMs: roomPollMs, withinMs: maxRoomWaitMs, isTransient: isFull });
    if (appended.outcome === "refused") return undefined;
    this.#last = commit;
    this.#sequence = appended.sequence;
    this.#isKnownEmpty = false;
    return commit;
  }
}

/** The commits of one source. */
export class SourceCommits extends CommitHistory<Commit> {
  constructor(source: string, owner: string, store: CommitStore) {
    super(source, owner, store, parseCommit);
  }

  get state(): SourceState {
    return this.last?.state ?? emptyState;
  }
}

const isFull = (error: unknown): boolean => error instanceof Unavailable && error.code === "store_full";
/** It is not known whether NATS stored the commit. */
const isUnanswered = (error: unknown): boolean => error instanceof Unavailable && !isFull(error);

/** Caches the commits of the sources that ran most recently, up to a number of bytes. */
export class SourceCommitsCache {
  readonly #cached: LRUCache<string, SourceCommits>;

  constructor(maxBytes: number) {
    this.#cached = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ state }) => bytesOf(state) });
  }

  find(source: string): SourceCommits | undefined {
    return this.#cached.get(source);
  }

  /** Adds the commits with their current size: the LRU cache keeps the size that an entry had when it was set. */
  set(commits: SourceCommits): void {
    this.#cached.delete(commits.source);
    this.#cached.set(commits.source, commits);
  }

  delete(source: string): void {
    this.#cached.delete(source);
  }

  /** Another runner commits for the sources of this partition from now on. */
  deletePartition(partition: number): void {
    for (const source of this.#cached.keys()) if (partitionOf(source) === partition) this.#cached.delete(source);
  }
}

/** An estimate: the strings of the state, and a kilobyte for the rest. */
function bytesOf({ db, dedupe, heard = [] }: SourceState): number {
  let bytes = 1024 + heard.length * 32 + (dedupe.strategy === "unique" ? dedupe.ids.length * 32 : 0);
  for (const keys of Object.values(db)) for (const [key, text] of Object.entries(keys)) bytes += 2 * (key.length + text.length);
  return bytes;
}

function parseCommit(text: string): Commit {
  const commit = JSON.parse(text) as Commit; // Written by a runner from a typed value.
  if (typeof commit.state !== "object") throw new Invariant(`commit has no state: ${text.slice(0, 200)}`);
  return commit;
}

/** Names no subject of NATS: users read it. */
function tooLarge(commit: unknown): RunError {
  const bytes = Buffer.byteLength(JSON.stringify(commit));
  return {
    name: "LimitError",
    code: "commit_too_large",
    message: `what this run would store has ${bytes} bytes, more than the max_payload of NATS takes in one message: store, emit, log or return less`,
  };
}
