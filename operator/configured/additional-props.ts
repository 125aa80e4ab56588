import type { SourceSpec, SourceStatus } from "../../crds/source.ts";
import type { ComponentResource } from "../../crds/component.ts";
import { hash } from "node:crypto";
import { canonicalJson } from "../../domain/canonical-json.ts";
import { withAdditional, type Build, type PropDefinition } from "../../domain/component/definition.ts";
import type { Blocked } from "./blocked.ts";
import { currentBuild } from "./component.ts";

/** Values of a component's props, and where those of its secret ones are stored. */
export type PropsOfSpec = Pick<SourceSpec, "props" | "secrets" | "redeploy">;
/** A source or step, with the additional props that its component last returned. */
export interface Configured {
  readonly spec: PropsOfSpec;
  readonly status: Pick<SourceStatus, "configurableProps" | "configurableFor">;
}

/** Result of a call of `additionalProps`, with a digest of the component and values it was called for. */
export type ReloadResult = { readonly digest: string } & ({ readonly props: readonly PropDefinition[] } | { readonly blocked: Blocked });

/** The build, including the additional props for its current values. Until they are known, only the component's own props. */
export function buildFor(source: Configured, component: ComponentResource | undefined): Build | undefined {
  const build = currentBuild(component);
  const { configurableProps, configurableFor } = source.status;
  if (build === undefined || configurableProps === undefined || configurableFor !== digestFor(source, build)) return build;
  return { ...build, definition: withAdditional(build.definition, configurableProps) };
}

/** Digest for which additional props must be requested; undefined if there are none or they are known. */
export function reloadDigest(source: Configured, component: ComponentResource | undefined): string | undefined {
  const build = currentBuild(component);
  const digest = build === undefined ? undefined : digestFor(source, build);
  return digest === source.status.configurableFor && source.status.configurableProps !== undefined ? undefined : digest;
}

/** Different code, values or `redeploy` may give different props; undefined for a component without additional ones. */
function digestFor({ spec }: Pick<Configured, "spec">, { bundle, definition }: Build): string | undefined {
  if (!definition.hasAdditionalProps) return undefined;
  const { props, secrets, redeploy } = spec;
  return hash("sha256", canonicalJson({ bundle, props, secrets, redeploy }));
}
