import type { SubscriptionResource } from "../../../crds/subscription.ts";
import type { WorkflowStatus } from "../../../crds/workflow.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import type { Fields } from "../../controller/status.ts";
import type { PlanInputs as AnyPlanInputs } from "../../deployable/deployable.ts";
import type { DeployableStep } from "../../deployable/step.ts";
import type { WorkflowVersion } from "../../versions.ts";
import type { RunningSecrets } from "../observe/observed.ts";

export type Step = DeployableStep<WorkflowStatus> | OwnStep;

/** What only a workflow has: many versions, a route, and Subscriptions to sources. */
export type OwnStep =
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
  | { readonly do: "remove-timer"; readonly prop: string }
  /** Its own entry in ROUTES: events that wait for it are delivered also after its last subscription has ended. */
  | { readonly do: "write-route"; readonly route: Route }
  | { readonly do: "remove-route" }
  /** Create or correct the Subscription of a source trigger. */
  | { readonly do: "subscribe"; readonly source: string; readonly now: SubscriptionResource | undefined }
  | { readonly do: "end-subscription"; readonly name: string }
  /** Drop the events that wait for it. */
  | { readonly do: "end-queue" };

export type StatusFields = Fields<WorkflowStatus>;

export interface PlanInputs extends AnyPlanInputs {
  /** A new key for resume URLs. */
  readonly resumeKey: string;
  /** A new key for an email address. */
  readonly emailKey: string;
  /** Domain of email addresses; absent: the installation receives no emails. */
  readonly emailDomain?: string | undefined;
}

/** What addresses follow from. */
export type AddressInputs = Pick<PlanInputs, "ingressUrl" | "emailDomain">;
