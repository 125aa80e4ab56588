import type { SecretReference } from "../../../crds/secret-reference.ts";
import type { SubscriptionResource } from "../../../crds/subscription.ts";
import type { WorkflowStatus } from "../../../crds/workflow.ts";
import type { Endpoint, Route } from "../../../domain/source/deployment.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import type { WriteComponent } from "../../configured/own-component.ts";
import type { readyConditions } from "../../controller/status.ts";
import type { SourceTimer } from "../../tick.ts";
import type { RunningSecrets } from "../observe/observed.ts";
import type { WorkflowVersion } from "../version.ts";

/** What to do, as values; `apply.ts` executes it. Every step is idempotent. */
export type Step =
  /** Record id, endpoint key and pool, before anything is created under them. */
  | { readonly do: "claim"; readonly endpointKey: string; readonly pool: string }
  | WriteComponent
  | { readonly do: "remove-component"; readonly name: string }
  /** Call `additionalProps` of the components of these steps. */
  | { readonly do: "reload-props"; readonly steps: readonly { readonly id: string; readonly digest: string }[] }
  /** Reads the secret values, seals them for the pool, and writes the current entry, which readers then run. */
  | {
      readonly do: "write-deployment";
      readonly deployment: WorkflowDeployment;
      readonly secrets: RunningSecrets;
      readonly resumeKey: string;
      /** Set for a version that the pool does not have: it gets entries of its own first. */
      readonly version?: WorkflowVersion;
    }
  /** Copies a replaced version to another pool. */
  | {
      readonly do: "copy-version";
      readonly version: WorkflowVersion;
      readonly from: string;
      readonly to: string;
      readonly resumeKey: string;
    }
  /** Another version runs: keep this one only for its suspended runs. */
  | { readonly do: "retire-version"; readonly version: WorkflowVersion; readonly pool: string; readonly replacedAt: number }
  /** Remove the entry of a version from a pool. */
  | { readonly do: "leave-version"; readonly pool: string; readonly deployment: string }
  | { readonly do: "forget-version"; readonly deployment: string }
  /** Replaces the entry in the old pool: queued invocations follow the workflow. */
  | { readonly do: "leave-pool"; readonly pool: string; readonly movedTo: string }
  | { readonly do: "remove-deployment"; readonly pool: string }
  | (SourceTimer & { readonly do: "set-timer"; readonly pool: string })
  | { readonly do: "remove-timer"; readonly prop: string }
  /** Removes all timers, and the wake-ups of suspended runs. */
  | { readonly do: "end-timers" }
  | { readonly do: "write-endpoint"; readonly key: string; readonly endpoint: Endpoint }
  | { readonly do: "remove-endpoint"; readonly key: string }
  /** Its own entry in ROUTES: events that wait for it are delivered also after its last subscription has ended. */
  | { readonly do: "write-route"; readonly route: Route }
  | { readonly do: "remove-route" }
  /** Create or correct the Subscription of a source trigger. */
  | { readonly do: "subscribe"; readonly source: string; readonly now: SubscriptionResource | undefined }
  | { readonly do: "end-subscription"; readonly name: string }
  /** Secrets stored for this generation become the workflow's own; those that only older generations referred to are deleted. */
  | { readonly do: "settle-secrets"; readonly references: readonly SecretReference[] }
  | { readonly do: "report"; readonly fields: StatusFields; readonly verdict: Verdict }
  /** Record an Event for users. */
  | { readonly do: "record-event"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
  /** Delete the Subscriptions that name it as emitter or listener. */
  | { readonly do: "end-connections" }
  /** Drop the events that wait for it. */
  | { readonly do: "end-queue" }
  | { readonly do: "forget-history"; readonly owner: string }
  /** Remove our finalizer: the resource ends. */
  | { readonly do: "release" };

export type StatusFields = { readonly [Field in keyof WorkflowStatus]?: WorkflowStatus[Field] | undefined };
export type Verdict = Parameters<typeof readyConditions>[0];
