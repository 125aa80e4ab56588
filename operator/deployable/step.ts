import type { SecretReference } from "../../crds/secret-reference.ts";
import type { Hook } from "../../domain/trigger.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import type { WriteComponent } from "../configured/own-component.ts";
import type { Fields, Verdict } from "../controller/status.ts";
import type { SourceTimer } from "../tick.ts";

/** A step that only writes and completes at once. */
export type WrittenStep<T> =
  /** Record what was chosen, before anything is created with it: id, names, pool, additional props. */
  | { readonly do: "claim"; readonly fields: Fields<T> }
  /** Create or update a component with the resource's own code. */
  | WriteComponent
  | { readonly do: "remove-component"; readonly name: string }
  | (SourceTimer & { readonly do: "set-timer"; readonly pool: string })
  /** Removes all timers, and the wake-ups of suspended runs. */
  | { readonly do: "end-timers" }
  | { readonly do: "write-endpoint"; readonly key: string; readonly endpoint: Endpoint }
  | { readonly do: "remove-endpoint"; readonly key: string }
  | { readonly do: "remove-deployment"; readonly pool: string }
  /** Replaces the entry in the old pool: queued invocations follow the resource. */
  | { readonly do: "leave-pool"; readonly pool: string; readonly movedTo: string }
  | { readonly do: "forget-history"; readonly owner: string }
  | { readonly do: "report"; readonly fields: Fields<T>; readonly verdict: Verdict }
  /** Secrets stored for this generation become the resource's own; those that only older generations referred to are deleted. */
  | { readonly do: "settle-secrets"; readonly references: readonly SecretReference[] }
  /** Record an Event for users. */
  | { readonly do: "record-event"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
  /** Remove our finalizer: the resource ends. */
  | { readonly do: "release" };

export interface RunHook {
  readonly do: "run-hook";
  readonly pool: string;
  readonly source: string;
  readonly owner: string;
  readonly hook: Hook;
  readonly generation: number;
  readonly attempt: number;
  readonly discardEvents: boolean;
}

/** What to do with any deployable, as values; a kind adds steps of its own. Every step is idempotent. */
export type DeployableStep<T> =
  | WrittenStep<T>
  /** Call `additionalProps` of the components with these ids. */
  | { readonly do: "reload-props"; readonly calls: readonly { readonly id: string; readonly digest: string }[] }
  | RunHook
  /** Look again soon: what the resource has accepted has not ended. */
  | { readonly do: "await-queue" }
  /** Delete the Subscriptions that name it as emitter or listener. */
  | { readonly do: "end-connections" };

const steps: Readonly<Record<DeployableStep<unknown>["do"], true>> = {
  claim: true,
  "write-component": true,
  "remove-component": true,
  "set-timer": true,
  "end-timers": true,
  "write-endpoint": true,
  "remove-endpoint": true,
  "remove-deployment": true,
  "leave-pool": true,
  "forget-history": true,
  report: true,
  "settle-secrets": true,
  "record-event": true,
  release: true,
  "reload-props": true,
  "run-hook": true,
  "await-queue": true,
  "end-connections": true,
};

/** Is it a step of any deployable, not one that only its kind has? */
export function isCommon<T, Own extends { readonly do: string }>(step: DeployableStep<T> | Own): step is DeployableStep<T> {
  return Object.hasOwn(steps, step.do);
}
