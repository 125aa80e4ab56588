export interface SchedulePorts {
  readonly quotas: QuotaStore;
  /** Absent: all owners have weight 1. */
  readonly weights?: WeightStore;
}

export interface QuotaStore {
  /** Epoch ms until which the owner's daily quota is used up; undefined: it is not. @throws Unavailable */
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

export interface QueueCounts {
  readonly running: number;
  readonly waiting: number;
  /** Sources that wait only because of their owner's other runs. */
  readonly heldBack: number;
  /** Sources that wait because their owner is blocked. */
  readonly overQuota: number;
  /** Sources and owners with a full backlog: endpoints refuse their requests. */
  readonly fullSources: number;
  readonly fullOwners: number;
}
