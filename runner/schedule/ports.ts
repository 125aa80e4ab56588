export interface SchedulePorts {
  readonly quotas: QuotaStore;
  /** Absent: all owners have weight 1. */
  readonly weights?: WeightStore;
}

export interface QuotaStore {
  /** Epoch ms until which the owner's daily quota is, or within the last day was, used up; undefined: neither. @throws Unavailable */
  blockedUntil(owner: string): Promise<number | undefined>;
  onChange(changed: OwnerListener): Promise<Subscription>;
}

export interface WeightStore {
  /** The owner's share relative to weight 1; undefined: weight 1. @throws Unavailable */
  weightOf(owner: string): Promise<number | undefined>;
  onChange(changed: OwnerListener): Promise<Subscription>;
}

/** Called for each owner whose value changed. Undefined: changes may have been missed, of any owner. */
export type OwnerListener = (owner: string | undefined) => void;

export interface Subscription {
  stop(): Promise<void>;
}

/** Why an owner's work stays queued. */
export type BlockReason = "owner_quota" | "owner_commits";

export interface QueueCounts {
  readonly running: number;
  /** Queued invocations, except those that wait for their owner's quota. */
  readonly waiting: number;
  /** Sources that wait only because of their owner's other runs. */
  readonly heldBack: number;
  /** Sources that wait because their owner is blocked, by reason. */
  readonly blocked: Readonly<Record<BlockReason, number>>;
  /** Sources and owners with a full backlog: endpoints refuse their requests. */
  readonly fullSources: number;
  readonly fullOwners: number;
}
