import { withAdditional, type ComponentDefinition } from "../../domain/definition.ts";
import { checkConfiguredProps } from "../../domain/prop-values.ts";
import type { ApiContext } from "../routes/context.ts";
import type { SourceResource } from "./source.ts";

interface Configured {
  readonly props: Readonly<Record<string, unknown>>;
  /** Its secrets stay where none are given. */
  readonly source?: SourceResource;
}

/**
 * The definition that these values are checked by: with the additional props that the component's code tells for them, since a secret
 * one must be known as such before it is stored. What is wrong with the values of its own props is told without a call.
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
  const told = await ports.configurations.configure({
    namespace,
    component: name,
    ...(source === undefined ? {} : { source: source.metadata.name }),
    props,
    call: { kind: "props" },
  });
  return told.outcome === "props" ? withAdditional(definition, told.props) : definition;
}
