import type { SecretReference } from "../../crds/secret-reference.ts";
import type { ComponentCode } from "../../domain/component-code.ts";
import type { PropDefinition } from "../../domain/definition.ts";
import type { Deployment, Endpoint } from "../../domain/deployment.ts";
import type { Hook } from "../../domain/invocation.ts";
import type { TimerSchedule } from "../../domain/schedule.ts";
import type { ConditionInput } from "../controller/conditions.ts";
import type { SourceStatus } from "../../crds/source.ts";
import type { ComponentResource } from "./resources.ts";
import type { SecretProps } from "./secret-props.ts";
import type { SourceVersion } from "./version.ts";

/** What has to be done, as values; `apply.ts` does it. Each step may be done twice. */
export type Step =
  /** Give it our finalizer and its public id. */
  | { readonly do: "adopt"; readonly id: string }
  /** Write down what was chosen for it, before anything is made under that name. */
  | { readonly do: "claim"; readonly nameSlug: string; readonly endpointKey: string | undefined; readonly pool: string }
  /** Ask the component for its additional props. */
  | { readonly do: "reload-props"; readonly digest: string }
  /** Write down what it told, before anything is deployed by it. */
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
  /** Makes or changes the component that holds the source's own code. */
  | {
      readonly do: "write-component";
      readonly name: string;
      readonly code: ComponentCode;
      readonly url: string | undefined;
      /** Of the source, when the code was read from an address for it. */
      readonly generation: string | undefined;
      /** The component as it is. */
      readonly now: ComponentResource | undefined;
    }
  | { readonly do: "remove-component"; readonly name: string }
  /** The secret values are read and sealed for the pool on the way. */
  | {
      readonly do: "write-deployment";
      readonly deployment: Deployment;
      /** "as they are": sealed for the same pool already. */
      readonly secrets: SecretProps | "as they are";
    }
  /** Its deployment is complete: a failed update returns to it from now on. */
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
  /** In place of the entry in the pool it leaves: what still waits for it there is to follow it. */
  | { readonly do: "leave-pool"; readonly pool: string; readonly source: string; readonly movedTo: string }
  /** Subscriptions that name it as their emitter or listener lead nowhere from now on. */
  | { readonly do: "end-connections" }
  | { readonly do: "forget-history"; readonly owner: string; readonly source: string }
  | { readonly do: "report"; readonly fields: StatusFields; readonly conditions: readonly ConditionInput[] }
  /** What was kept for this generation's secrets ends with the source, and what only older ones referred to ends now. */
  | { readonly do: "settle-secrets"; readonly generation: number; readonly references: readonly SecretReference[] }
  /** For people who look at its past. */
  | { readonly do: "tell"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string }
  /** Take our finalizer away: the resource ends. */
  | { readonly do: "release" };

/** Fields of the status to replace; undefined takes one away. */
export type StatusFields = { readonly [Field in keyof SourceStatus]?: SourceStatus[Field] | undefined };

export function withFields(status: SourceStatus, fields: StatusFields): SourceStatus {
  const merged = Object.entries({ ...status, ...fields }).filter(([, value]) => value !== undefined);
  // Fields of a status, less those that are optional in it.
  return Object.fromEntries(merged) as SourceStatus;
}
