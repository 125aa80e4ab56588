import { createHash } from "node:crypto";
import { canonicalJson } from "../../domain/canonical-json.ts";
import type { BoundProp } from "../../domain/configure.ts";
import { withAdditional, type Build, type ComponentDefinition, type PropDefinition } from "../../domain/definition.ts";
import type { Blocked } from "./blocked.ts";
import { currentBuild } from "./component-of.ts";
import type { ComponentResource, SourceResource } from "./resources.ts";

/** What `additionalProps` of a source's component came to, and for which component and values. */
export type Reloaded = { readonly digest: string } & ({ readonly props: readonly PropDefinition[] } | { readonly blocked: Blocked });

/** The build that the source runs, with all props that its component told for the values it has; until then with the component's own. */
export function buildFor(source: Pick<SourceResource, "spec" | "status">, component: ComponentResource | undefined): Build | undefined {
  const build = currentBuild(component);
  const { configurableProps, configurableFor } = source.status;
  if (build === undefined || configurableProps === undefined || configurableFor !== digestFor(source, build)) return build;
  return { ...build, definition: withAdditional(build.definition, configurableProps) };
}

/** For what the component must be asked for its additional props; undefined: it has none, or has told them. */
export function wantsReload(source: Pick<SourceResource, "spec" | "status">, component: ComponentResource | undefined): string | undefined {
  const build = currentBuild(component);
  const digest = build === undefined ? undefined : digestFor(source, build);
  return digest === source.status.configurableFor && source.status.configurableProps !== undefined ? undefined : digest;
}

/** Props that an isolate does not find in the component's code as they are meant now. */
export function boundProps(own: ComponentDefinition, all: readonly PropDefinition[]): readonly BoundProp[] {
  const types = new Map(own.props.map(({ name, type }) => [name, type]));
  return all
    .filter(({ name, type }) => types.get(name) !== type)
    .map(({ name, type, app }) => ({ name, type, ...(app === undefined ? {} : { app }) }));
}

/** Other code, values or a new `redeploy` may mean other props; undefined for a component without additional ones. */
function digestFor({ spec }: Pick<SourceResource, "spec">, { bundle, definition }: Build): string | undefined {
  if (!definition.hasAdditionalProps) return undefined;
  const { props, secrets, redeploy } = spec;
  return createHash("sha256").update(canonicalJson({ bundle, props, secrets, redeploy })).digest("hex");
}
