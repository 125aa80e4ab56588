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

/** What the namespace of an owner has of all kinds of resources. */
export interface StoredUse {
  read(namespace: string): Promise<{ readonly resources: number; /** Bytes of specs. */ readonly bytes: number }>;
}
