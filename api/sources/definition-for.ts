import { withAdditional, type ComponentDefinition } from "../../domain/component/definition.ts";
import { checkConfiguredProps } from "../../domain/component/prop-values.ts";
import { knownProps, propsWithExpressions } from "../../domain/workflow/step-props.ts";
import type { ApiContext } from "../context.ts";
import type { ConfigureRequest } from "../configure-ports.ts";

interface Configured {
  readonly props: Readonly<Record<string, unknown>>;
  /** Names of stored secrets, which are the default for absent ones. */
  readonly hidden?: readonly string[];
  /** The source, or step of a workflow, that has them. */
  readonly of?: Pick<ConfigureRequest, "source" | "workflow" | "step">;
  /** Whether values may contain expressions, as those of steps. */
  readonly mayHaveExpressions?: true;
}

/**
 * Returns the definition for these values, including the additional props that the component's code returns for them: a secret prop
 * must be known as secret before its value is stored. Checks the values of declared props before the call. Values with expressions are
 * left out of it.
 * @throws InvalidInput, and what a call throws
 */
export async function definitionFor(
  component: { readonly metadata: { readonly namespace: string; readonly name: string } },
  definition: ComponentDefinition,
  { props, hidden = [], of = {}, mayHaveExpressions }: Configured,
  { ports }: ApiContext,
): Promise<ComponentDefinition> {
  if (!definition.hasAdditionalProps) return definition;
  const open = mayHaveExpressions === true ? propsWithExpressions(props) : new Set<string>();
  checkConfiguredProps(definition, { ...Object.fromEntries(hidden.map((name) => [name, ""])), ...props }, new Set([...hidden, ...open]));
  const { namespace, name } = component.metadata;
  const given = open.size === 0 ? props : knownProps(props);
  const result = await ports.configurations.configure({ namespace, component: name, ...of, props: given, call: { kind: "props" } });
  return result.outcome === "props" ? withAdditional(definition, result.props) : definition;
}
