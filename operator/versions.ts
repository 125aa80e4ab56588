import type { SecretReference } from "../crds/secret-reference.ts";
import type { SourceSpec } from "../crds/source.ts";
import type { Build, PropDefinition } from "../domain/component/definition.ts";
import type { Deployment } from "../domain/source/deployment.ts";
import { maxSuspensionMs } from "../domain/workflow/resume-request.ts";

/** Where the value of a secret prop is stored, and whether its text is used verbatim. */
export interface SecretProp {
  readonly reference: SecretReference;
  readonly asText: boolean;
}

/** An account that a prop refers to by its public id. */
export interface AccountReference {
  readonly account: string;
  /** Name slug of the prop's app; undefined: any app. */
  readonly app?: string | undefined;
}

/** Props with secret values: those marked as secret, and app props, which receive the account's credentials. */
export type SecretProps = Readonly<Record<string, SecretProp | AccountReference>>;

/**
 * A completely deployed version of a source, to which a failed update returns. Stored in the bucket VERSIONS by source id; only the
 * operator reads it.
 */
export interface SourceVersion {
  /** The entry as runners saw it, with its secrets sealed for its pool. */
  readonly deployment: Deployment;
  /** The spec without its code, which the bundle contains. */
  readonly spec: SourceSpec;
  /** With the additional props computed for the spec; without the lockfile. */
  readonly build: Build;
  readonly component: { readonly name: string; readonly id: string };
  /** Epoch ms. */
  readonly deployedAt: number;
  /** Runners have disabled it since: it is restored without running. */
  readonly disabled?: true;
}

/** Is this entry the first deployment of that version, or one that restored it? */
export function isOfVersion({ deployment }: SourceVersion, deployed: Deployment | undefined): deployed is Deployment {
  return deployed !== undefined && (deployed.id === deployment.id || deployed.restores === deployment.id);
}

/** Code may be 1 MiB. */
export function withoutCode({ code: _code, entry: _entry, files: _files, ...spec }: SourceSpec): SourceSpec {
  return spec;
}

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
  /** Absent: false. */
  readonly hasEmailTrigger?: true;
  /** Public ids of the sources whose events start runs. */
  readonly sources: readonly string[];
}

export const versionKey = (workflow: string, deployment: string): string => `${workflow}.${deployment}`;
export const versionsOf = (workflow: string): string => `${workflow}.*`;

/** Seconds until a replaced version is forgotten: no suspended run can need it then. */
export function ttlSeconds(replacedAt: number, now: number): number {
  return Math.max(1, Math.ceil((replacedAt + maxSuspensionMs - now) / 1_000));
}

/** Identifies a version for users: id and time of its deployment. */
export const shownVersion = (deployment: string, deployedAt: number): string =>
  `version ${deployment} of ${new Date(deployedAt).toISOString().replace(/\.\d+/, "")}`;
