import { LRUCache } from "lru-cache";
import { Invariant, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-products.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { retry } from "../../domain/retry.ts";
import { emptyState, type Commit, type SourceState } from "../../domain/run/commit.ts";
import type { Appended, CommitStore, EndMarker, Room } from "./ports.ts";

const maxAttempts = 3;
/** How long a commit waits for room in RUNS. Running the invocation again instead would repeat the effects of user code. */
const maxRoomWaitMs = 60_000;
const roomPollMs = 500;

/** The text of a commit, or why it cannot be stored, for users. */
export type Encoded = { readonly text: string; readonly refusal?: never } | { readonly refusal: RunError; readonly text?: never };

/** How commits are stored. */
export interface CommitForm<Stored> {
  readonly encode: (commit: Stored) => Encoded | Promise<Encoded>;
  readonly decode: (text: string) => Stored | Promise<Stored>;
  /** The commit that was encoded last is stored. */
  readonly onStored?: () => void;
  /** Whether a commit stays stored until the next one. */
  readonly isKept: (commit: Stored) => boolean;
}

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
  readonly #form: CommitForm<Stored>;
  #last: Stored | undefined;
  #sequence = 0;
  /** Of the last commit. */
  #bytes = 0;
  #isKnownEmpty = false;

  /** @param source as in `CommitStore` */
  constructor(source: string, owner: string, store: CommitStore, form: CommitForm<Stored>) {
    this.#form = form;
    this.source = source;
    this.owner = owner;
    this.#store = store;
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
    this.#last = commit === undefined ? undefined : await this.#form.decode(commit);
    this.#sequence = sequence;
    this.#bytes = commit === undefined ? 0 : Buffer.byteLength(commit);
    this.#isKnownEmpty = false;
  }

  /**
   * Appends a commit. If it is not known whether the commit was stored, the same commit is sent again: it cannot be stored twice, because
   * both expect the same sequence.
   *
   * @param replacements make the commit that is stored instead of one that is too large for NATS or for the owner's share: the first that
   * fits. Without them, the invocation would fail forever. The last one is stored also beyond the share
   * @returns the stored commit; undefined if another runner committed first: load and run again
   */
  async append(commit: Stored, ...replacements: readonly ((error: RunError) => Stored)[]): Promise<Stored | undefined> {
    const [replace, ...others] = replacements;
    const { text, refusal } = await this.#form.encode(commit);
    if (replace === undefined) {
      if (refusal !== undefined) throw new Invariant(`the last form of a commit is refused: ${refusal.message}`);
      return this.#append(commit, text);
    }
    if (refusal !== undefined) return this.append(replace(refusal), ...others);
    const room = await this.#reserve(commit, text);
    if (room?.refusal !== undefined) return this.append(replace(overShare(room.refusal)), ...others);
    try {
      return await this.#append(commit, text);
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      return await this.append(replace(tooLarge(text)), ...others);
    } finally {
      room?.release();
    }
  }

  /** Marks it as ended, after its last commit. @throws Unavailable */
  end(marker: EndMarker): Promise<void> {
    return this.#store.end(this.owner, this.source, this.#sequence, marker);
  }

  /** Room in the owner's share of STATE, if the commit needs any. */
  async #reserve(commit: Stored, text: string): Promise<Room | undefined> {
    const moreBytes = Buffer.byteLength(text) - this.#bytes;
    return moreBytes > 0 && this.#form.isKept(commit) ? this.#store.reserve?.(this.owner, moreBytes) : undefined;
  }

  async #append(commit: Stored, text: string): Promise<Stored | undefined> {
    const publish = (): Promise<Appended> => this.#store.append(this.owner, this.source, text, this.#sequence, this.#isKnownEmpty);
    const resend = (): Promise<Appended> => retry(publish, { firstMs: 0, maxAttempts, isTransient: isUnanswered });
    const appended = await retry(resend, { firstMs: roomPollMs, withinMs: maxRoomWaitMs, isTransient: isFull });
    if (appended.outcome === "refused") return undefined;
    this.#form.onStored?.();
    this.#last = commit;
    this.#sequence = appended.sequence;
    this.#bytes = Buffer.byteLength(text);
    this.#isKnownEmpty = false;
    return commit;
  }
}

/** The commits of one source. */
export class SourceCommits extends CommitHistory<Commit> {
  constructor(source: string, owner: string, store: CommitStore) {
    super(source, owner, store, {
      encode: (commit) => ({ text: JSON.stringify(commit) }),
      decode: parseCommit,
      isKept: () => true,
    });
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

const overShare = (message: string): RunError => ({ name: "LimitError", code: "state_full", message });

/** Names no subject of NATS: users read it. */
function tooLarge(text: string): RunError {
  const bytes = Buffer.byteLength(text);
  return {
    name: "LimitError",
    code: "commit_too_large",
    message: `what this run would store has ${bytes} bytes, more than the max_payload of NATS takes in one message: store, emit, log or return less`,
  };
}
