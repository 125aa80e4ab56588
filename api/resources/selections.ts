import type { WebhookState } from "../../domain/delivery/webhook-health.ts";
import type { WorkflowState } from "../../domain/workflow/workflow-health.ts";
import type { HealthState } from "../../domain/source/source-health.ts";

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
