import type { PropDefinition } from "../../domain/component/definition.ts";
import { maxSuspensionMs } from "../../domain/workflow/resume-request.ts";
import type { SecretProps } from "../configured/secret-prop.ts";

/**
 * What the operator remembers of a version, besides its deployment entry: an entry of the bucket VERSIONS under
 * `versionKey(workflow, deployment)`. With it, the version runs on without the spec and its components.
 */
export interface WorkflowVersion {
  /** `d_…` */
  readonly deployment: string;
  /** Epoch ms. */
  readonly deployedAt: number;
  readonly steps: readonly VersionStep[];
  readonly triggers: VersionTriggers;
  /** Epoch ms at which another version replaced it; absent: it is the current one. */
  readonly replacedAt?: number;
}

export interface VersionStep {
  readonly id: string;
  readonly name: string;
  readonly component: string;
  readonly componentId: string;
  /** Where the values of its secret props are. */
  readonly secrets: SecretProps;
  readonly configurableProps?: readonly PropDefinition[];
  readonly configurableFor?: string;
}

/** Its triggers, besides the timers, which are in the deployment entry. */
export interface VersionTriggers {
  readonly hasHttpTrigger: boolean;
  readonly customResponse: boolean;
  /** Public ids of the sources whose events start runs. */
  readonly sources: readonly string[];
}

export const versionKey = (workflow: string, deployment: string): string => `${workflow}.${deployment}`;
export const versionsOf = (workflow: string): string => `${workflow}.*`;

/** Seconds until a replaced version is forgotten: no suspended run can need it then. */
export function ttlSeconds(replacedAt: number, now: number): number {
  return Math.max(1, Math.ceil((replacedAt + maxSuspensionMs - now) / 1_000));
}
