import type { SecretReference } from "../../../crds/secret-reference.ts";
import type { PropDefinition } from "../../../domain/component/definition.ts";
import type { Deployment, Endpoint } from "../../../domain/source/deployment.ts";
import type { Hook } from "../../../domain/trigger.ts";
import type { TimerSchedule } from "../../../domain/schedule/schedule.ts";
import type { ConditionInput } from "../../controller/conditions.ts";
import type { SourceStatus } from "../../../crds/source.ts";
import type { WriteComponent } from "../../configured/own-component.ts";
import type { SecretProps } from "../../configured/secret-prop.ts";
import type { SourceVersion } from "./version.ts";

/** What to do, as values; `apply.ts` executes it. Every step is idempotent. */
export type Step =
  /** Add our finalizer and the public id. The claim of a source that can be deployed is recorded with the id, in one write. */
  | { readonly do: "adopt"; readonly id: string; readonly claim?: Claim }
  /** Record the names chosen for it, before anything is created under them. */
  | ({ readonly do: "claim" } & Claim)
  /** Call `additionalProps` of the component. */
  | { readonly do: "reload-props"; readonly digest: string }
  /** Record the additional props, before anything is deployed with them. */
  | { readonly do: "claim-props"; readonly digest: string; readonly props: readonly PropDefinition[] }
  | { readonly do: "end-timers"; readonly source: string }
  | {
      readonly do: "run-hook";
      readonly pool: string;
      readonly source: string;
      readonly owner: string;
      readonly hook: Hook;
      readonly generation: number;
      readonly attempt: number;
      readonly discardEvents: boolean;
    }
  /** Create or update the component with the source's own code. */
  | WriteComponent
  | { readonly do: "remove-component"; readonly name: string }
  /** Reads the secret values and seals them for the pool. */
  | {
      readonly do: "write-deployment";
      readonly deployment: Deployment;
      /** "as they are": already sealed for this pool. */
      readonly secrets: SecretProps | "as they are";
    }
  /** The deployment is complete: a failed update returns to it from now on. */
  | { readonly do: "keep-version"; readonly version: SourceVersion }
  | { readonly do: "forget-version"; readonly source: string }
  | {
      readonly do: "set-timer";
      readonly pool: string;
      readonly source: string;
      readonly prop: string;
      readonly schedule: TimerSchedule;
      readonly generation: number;
    }
  | { readonly do: "write-endpoint"; readonly key: string; readonly endpoint: Endpoint }
  | { readonly do: "remove-endpoint"; readonly key: string }
  | { readonly do: "remove-deployment"; readonly pool: string; readonly source: string }
  /** Replaces the entry in the old pool: queued invocations follow the source. */
  | { readonly do: "leave-pool"; readonly pool: string; readonly source: string; readonly movedTo: string }
  /** Look again soon: what the source has accepted has not ended. */
  | { readonly do: "await-queue" }
  /** Delete the Subscriptions that name it as emitter or listener. */
  | { readonly do: "end-connections" }
  | { readonly do: "forget-history"; readonly owner: string; readonly source: string }
  | { readonly do: "report"; readonly fields: StatusFields; readonly conditions: readonly ConditionInput[] }
  /** Secrets stored for this generation become the source's own; those that only older generations referred to are deleted. */
  | { readonly do: "settle-secrets"; readonly generation: number; readonly references: readonly SecretReference[] }
  /** Record an Event for users. */
  | { readonly do: "record-event"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
  /** Remove our finalizer: the resource ends. */
  | { readonly do: "release" };

export interface Claim {
  readonly nameSlug: string;
  readonly endpointKey: string | undefined;
  readonly pool: string;
}

/** Fields of the status to replace; undefined removes one. */
export type StatusFields = { readonly [Field in keyof SourceStatus]?: SourceStatus[Field] | undefined };

export function withFields(status: SourceStatus, fields: StatusFields): SourceStatus {
  const merged = Object.entries({ ...status, ...fields }).filter(([, value]) => value !== undefined);
  // The removed fields are optional.
  return Object.fromEntries(merged) as SourceStatus;
}
