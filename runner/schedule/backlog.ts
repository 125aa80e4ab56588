import type { BacklogLimits, BacklogReport } from "../../domain/limits/admission.ts";

/** An accepted invocation that has not started to run. */
export interface Queued {
  readonly source: string;
  readonly owner: string;
  readonly bytes: number;
}

export interface RunnerBacklogLimits extends BacklogLimits {
  /** All that waits in this runner. */
  readonly totalBytes: number;
}

interface Amount {
  invocations: number;
  bytes: number;
}

/** A source or owner at its bound is reported until its backlog has shrunk to this share of it: otherwise each run would change the report. */
const resumeShare = 7 / 8;
/** Listed in one heartbeat at most, so that it stays small. */
const maxReported = 1_000;

/**
 * Counts the invocations that wait in this runner, by source and by owner, and knows which are at their bound (decision 0010).
 *
 * The byte bound of an owner shrinks with the room that is left: an owner may hold as much as is still free, so a single flood leaves
 * half of the memory to others, two leave a third, and there is always room for an owner who has nothing here.
 */
export class Backlog {
  readonly #limits: RunnerBacklogLimits;
  readonly #onChange: () => void;
  readonly #sources = new Map<string, Amount>();
  readonly #owners = new Map<string, Amount>();
  readonly #fullSources = new Set<string>();
  readonly #fullOwners = new Set<string>();
  #bytes = 0;

  /** @param onChange called when a source or an owner reaches its bound or is below it again, and when there is room again */
  constructor(limits: RunnerBacklogLimits, onChange: () => void) {
    this.#limits = limits;
    this.#onChange = onChange;
  }

  /** False while so much waits that the runner must read no more. */
  get hasRoom(): boolean {
    return this.#bytes < this.#limits.totalBytes;
  }

  get fullSources(): number {
    return this.#fullSources.size;
  }

  get fullOwners(): number {
    return this.#fullOwners.size;
  }

  add(queued: Queued): void {
    this.#count(queued, 1);
  }

  /** It runs now, or does not need to. */
  remove(queued: Queued): void {
    this.#count(queued, -1);
  }

  /** @param partitions those that were read to their end: left out when not all full sources fit, so that the gates keep their own counts */
  report(partitions: readonly number[]): BacklogReport {
    for (const owner of this.#fullOwners) this.#judgeOwner(owner);
    const isComplete = this.#fullSources.size <= maxReported && this.#fullOwners.size <= maxReported;
    return {
      partitions: isComplete ? partitions : [],
      sources: [...this.#fullSources].slice(0, maxReported),
      owners: [...this.#fullOwners].slice(0, maxReported),
    };
  }

  #count({ source, owner, bytes }: Queued, by: 1 | -1): void {
    const hadRoom = this.hasRoom;
    this.#bytes += by * bytes;
    change(this.#sources, source, by, bytes);
    change(this.#owners, owner, by, bytes);
    const { sourceInvocations, sourceBytes } = this.#limits;
    this.#judge(this.#fullSources, source, fillOf(this.#sources.get(source), sourceInvocations, sourceBytes));
    this.#judgeOwner(owner);
    if (this.hasRoom && !hadRoom) this.#onChange();
  }

  #judgeOwner(owner: string): void {
    const { ownerInvocations, ownerBytes, totalBytes } = this.#limits;
    const free = Math.max(1, totalBytes - this.#bytes);
    this.#judge(this.#fullOwners, owner, fillOf(this.#owners.get(owner), ownerInvocations, Math.min(ownerBytes, free)));
  }

  /** @param fill 1 at the bound */
  #judge(full: Set<string>, key: string, fill: number): void {
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
