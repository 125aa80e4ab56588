import type { WebhookOutcomes } from "../../domain/delivery/webhook-health.ts";
import type { RecentOutcomes } from "../../domain/outcomes.ts";
import type { WebhookState } from "../../domain/delivery/webhook-health.ts";
import type { WorkflowState } from "../../domain/workflow/workflow-health.ts";
import type { HealthState } from "../../domain/source/source-health.ts";

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

/** Filters of lists of webhooks and workflows; all of them apply. */
export interface ListedSelection {
  /** Contained in the name, the URL or the id, ignoring case. */
  readonly text?: string | undefined;
  /** As the operator has stored it: up to a minute old, except `paused`. */
  readonly state?: WebhookState | WorkflowState | undefined;
  /** Type of a trigger of a workflow; `none`: it has no trigger. */
  readonly trigger?: string | undefined;
}

/** Filters of a list of sources; all of them apply. */
export interface SourceSelection {
  readonly state?: HealthState | undefined;
  /** Contained in the name, the slug, the id or the component's key, ignoring case. */
  readonly text?: string | undefined;
  /** Exact key of the running component. */
  readonly componentKey?: string | undefined;
  /** The running component has a prop of this type; `none`: of neither. */
  readonly trigger?: "http" | "timer" | "none" | undefined;
}
