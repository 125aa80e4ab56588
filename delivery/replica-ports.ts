import type { Joined, ShareMember } from "../domain/invocation/partition-share.ts";
import type { Reading } from "./routing/ports.ts";

/** The processes of the delivery role, which share its work. */
export interface Replicas {
  /** Id of this one. */
  readonly replica: string;
  /** Announces this replica until it leaves, see `PartitionShare`. `onLapse`: others may have taken it for dead. */
  join(member: ShareMember & { readonly onLapse: () => void }): Promise<Joined>;
  /** What other live replicas hold. @throws Unavailable */
  heldByOthers(): Promise<ReadonlySet<number>>;
  /** False: others may take this replica for dead, and may have taken over what it holds. */
  isCurrent(): boolean;
}

/** Requests to the one replica that posts to ordered webhooks. */
export interface OrderedQueues {
  serve(queues: OrderedQueue): Promise<Reading>;
  /** @throws Unavailable when no replica answers in time */
  readonly remote: OrderedQueue;
}

export interface OrderedQueue {
  /** Resolves when the delivery, given as JSON text, is stored at the end of the webhook's queue. */
  append(webhook: string, delivery: string): Promise<void>;
  /** Attempts a delivery now that is at the head of its queue and waits for its next attempt; false: it is not. */
  attemptNow(webhook: string, delivery: string): Promise<boolean>;
}
