import { withAdditional, type ComponentDefinition } from "../../domain/component/definition.ts";
import { checkConfiguredProps } from "../../domain/component/prop-values.ts";
import type { ApiContext } from "../context.ts";
import type { SourceResource } from "../resources/source.ts";

interface Configured {
  readonly props: Readonly<Record<string, unknown>>;
  /** Source whose secrets are the default for absent ones. */
  readonly source?: SourceResource;
}

/**
 * Returns the definition for these values, including the additional props that the component's code returns for them: a secret prop
 * must be known as secret before its value is stored. Checks the values of declared props before the call.
 * @throws InvalidInput, and what a call throws
 */
export async function definitionFor(
  component: { readonly metadata: { readonly namespace: string; readonly name: string } },
  definition: ComponentDefinition,
  { props, source }: Configured,
  { ports }: ApiContext,
): Promise<ComponentDefinition> {
  if (!definition.hasAdditionalProps) return definition;
  const hidden = Object.keys(source?.spec.secrets ?? {});
  checkConfiguredProps(definition, { ...Object.fromEntries(hidden.map((name) => [name, ""])), ...props }, new Set(hidden));
  const { namespace, name } = component.metadata;
  const result = await ports.configurations.configure({
    namespace,
    component: name,
    ...(source === undefined ? {} : { source: source.metadata.name }),
    props,
    call: { kind: "props" },
  });
  return result.outcome === "props" ? withAdditional(definition, result.props) : definition;
}
