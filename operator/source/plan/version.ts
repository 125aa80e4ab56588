import type { SourceSpec } from "../../../crds/source.ts";
import type { Build } from "../../../domain/component/definition.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";

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
