import type { SourceStatus } from "../../../crds/source.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { Fields } from "../../controller/status.ts";
import type { PlanInputs as AnyPlanInputs } from "../../deployable/deployable.ts";
import type { DeployableStep } from "../../deployable/step.ts";
import type { SecretProps, SourceVersion } from "../../versions.ts";

export type Step = DeployableStep<SourceStatus> | OwnStep;

/** What only a source has: one version to return to. */
export type OwnStep =
  /** Reads the secret values and seals them for the pool. */
  | {
      readonly do: "write-deployment";
      readonly deployment: Deployment;
      /** "as they are": already sealed for this pool. */
      readonly secrets: SecretProps | "as they are";
    }
  /** The deployment is complete: a failed update returns to it from now on. */
  | { readonly do: "keep-version"; readonly version: SourceVersion }
  | { readonly do: "forget-version" };

export type StatusFields = Fields<SourceStatus>;

export interface PlanInputs extends AnyPlanInputs {
  /** A slug of the source's name that is unique within the owner. */
  readonly nameSlug: string;
  /** How long a deletion waits for `deactivate`, in total. */
  readonly maxDeactivateWaitMs: number;
  /** A hook that failed while a version was restored is due for a retry. */
  readonly retryHook: boolean;
}
