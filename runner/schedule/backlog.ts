import type { BacklogLimits, BacklogReport } from "../../domain/limits/admission.ts";

/** An invocation that has not started to run. */
export interface BacklogEntry {
  readonly source: string;
  readonly owner: string;
  readonly bytes: number;
  /** The source's own limit of invocations; absent: that of all sources. */
  readonly maxInvocations?: number | undefined;
}

export interface RunnerBacklogLimits extends BacklogLimits {
  /** Of all queued invocations of this runner. */
  readonly totalBytes: number;
}

interface Amount {
  invocations: number;
  bytes: number;
}

/** A full source or owner is reported until its backlog falls below this share of its limit. Otherwise each run would change the report. */
const resumeShare = 7 / 8;
/** Maximum sources, and owners, in one heartbeat. */
const maxReported = 1_000;

/**
 * Counts the queued invocations of this runner by source and by owner, and reports which have reached their limit (decision 0010).
 *
 *     open ── the limit is reached ──▶ full: reported, endpoints refuse requests ── below 7/8 of the limit ──▶ open
 *
 * The byte limit of an owner shrinks as memory fills up: an owner may hold as many bytes as are still free. So one flood leaves half of the
 * memory to others, two leave a third, and there is always room for a new owner.
 */
export class Backlog {
  readonly #limits: RunnerBacklogLimits;
  readonly #sources = new Map<string, Amount>();
  readonly #owners = new Map<string, Amount>();
  readonly #fullSources = new Set<string>();
  readonly #fullOwners = new Set<string>();
  #bytes = 0;
  #onChange: () => void = () => undefined;

  constructor(limits: RunnerBacklogLimits) {
    this.#limits = limits;
  }

  /** @param onChange called when the report changes, and when there is room again */
  subscribe(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** False while the memory for queued invocations is used up: the runner must not read more. */
  get hasRoom(): boolean {
    return this.#bytes < this.#limits.totalBytes;
  }

  /** Whether the source or its owner has reached its limit, and is not back below 7/8 of it. */
  isFull(source: string, owner: string): boolean {
    this.#updateOwner(owner); // Its limit depends on what all others hold.
    return this.#fullSources.has(source) || this.#fullOwners.has(owner);
  }

  get fullSources(): number {
    return this.#fullSources.size;
  }

  get fullOwners(): number {
    return this.#fullOwners.size;
  }

  add(entry: BacklogEntry): void {
    this.#count(entry, 1);
  }

  /** The invocation runs now, or will not run. */
  remove(entry: BacklogEntry): void {
    this.#count(entry, -1);
  }

  /**
   * @param partitions those that were read to the end. They are left out if not all full sources fit into the report, so that ingresses
   * continue with their own counts
   */
  report(partitions: readonly number[]): BacklogReport {
    for (const owner of this.#fullOwners) this.#updateOwner(owner);
    const isComplete = this.#fullSources.size <= maxReported && this.#fullOwners.size <= maxReported;
    return {
      partitions: isComplete ? partitions : [],
      sources: [...this.#fullSources].slice(0, maxReported),
      owners: [...this.#fullOwners].slice(0, maxReported),
    };
  }

  #count({ source, owner, bytes, maxInvocations = this.#limits.sourceInvocations }: BacklogEntry, by: 1 | -1): void {
    const hadRoom = this.hasRoom;
    this.#bytes += by * bytes;
    change(this.#sources, source, by, bytes);
    change(this.#owners, owner, by, bytes);
    this.#updateFull(this.#fullSources, source, fillOf(this.#sources.get(source), maxInvocations, this.#limits.sourceBytes));
    this.#updateOwner(owner);
    if (this.hasRoom && !hadRoom) this.#onChange();
  }

  #updateOwner(owner: string): void {
    const { ownerInvocations, ownerBytes, totalBytes } = this.#limits;
    const free = Math.max(1, totalBytes - this.#bytes);
    this.#updateFull(this.#fullOwners, owner, fillOf(this.#owners.get(owner), ownerInvocations, Math.min(ownerBytes, free)));
  }

  /** @param fill 1 at the limit */
  #updateFull(full: Set<string>, key: string, fill: number): void {
    if (full.has(key) ? fill >= resumeShare : fill < 1) return;
    if (!full.delete(key)) full.add(key);
    this.#onChange();
  }
}

function change(amounts: Map<string, Amount>, key: string, by: 1 | -1, bytes: number): void {
  const amount = amounts.get(key) ?? { invocations: 0, bytes: 0 };
  amount.invocations += by;
  amount.bytes += by * bytes;
  if (amount.invocations > 0) amounts.set(key, amount);
  else amounts.delete(key);
}

const fillOf = (amount: Amount | undefined, maxInvocations: number, maxBytes: number): number =>
  amount === undefined ? 0 : Math.max(amount.invocations / maxInvocations, amount.bytes / maxBytes);
