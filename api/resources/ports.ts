import type { WebhookOutcomes } from "../../domain/delivery/webhook-health.ts";
import type { RecentOutcomes } from "../../domain/outcomes.ts";

/** The latest attempts at webhooks, and runs of workflows, with one query for all. */
export interface Outcomes {
  /** By webhook; absent without attempts since `since`, epoch ms. */
  webhooks(
    asked: readonly { readonly webhook: string; readonly since: number }[],
    now: number,
  ): Promise<ReadonlyMap<string, WebhookOutcomes>>;
  /** By workflow; absent if no run of the version has ended. */
  workflows(
    asked: readonly { readonly workflow: string; readonly deployment: string }[],
    now: number,
  ): Promise<ReadonlyMap<string, RecentOutcomes>>;
}

export interface SourceBacklogs {
  /** Returns the number of unfinished invocations by source; sources without any are absent. @throws Unavailable */
  read(): Promise<ReadonlyMap<string, number>>;
}

/** What owners have of all kinds of resources. */
export interface StoredUse {
  /**
   * Public ids of those who share the limits of an owner: the user who created it, or the owner itself if none did, first; then the
   * organizations that this user created.
   */
  sharersOf(owner: string): Promise<readonly [string, ...string[]]>;
  read(namespaces: readonly string[]): Promise<{ readonly resources: number; /** Bytes of specs. */ readonly bytes: number }>;
}
