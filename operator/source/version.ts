import type { SourceSpec } from "../../crds/source.ts";
import type { Build } from "../../domain/definition.ts";
import type { Deployment } from "../../domain/deployment.ts";

/**
 * A version of a source whose deployment was completed: what a failed update returns to. An entry of the bucket VERSIONS under the
 * source's id, which the operator alone reads.
 */
export interface SourceVersion {
  /** As runners saw it then; its secrets are sealed for its pool. */
  readonly deployment: Deployment;
  /** What was asked for, without the text of any code: the bundle holds that. */
  readonly spec: SourceSpec;
  /** With the additional props that were computed for the spec; without the lockfile. */
  readonly build: Build;
  readonly component: { readonly name: string; readonly id: string };
  /** Epoch ms. */
  readonly deployedAt: number;
  /** Its runners have disabled it since: restored, it does not run. */
  readonly disabled?: true;
}

/** Is this entry a deployment of that version, the first one or one that restored it? */
export function isOfVersion({ deployment }: SourceVersion, deployed: Deployment | undefined): deployed is Deployment {
  return deployed !== undefined && (deployed.id === deployment.id || deployed.restores === deployment.id);
}

/** The spec without the text of code, which may be 1 MiB. */
export function withoutCode({ code: _code, entry: _entry, files: _files, ...spec }: SourceSpec): SourceSpec {
  return spec;
}
