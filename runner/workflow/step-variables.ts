import { notSet, variableReadBy, type VariableValues } from "../../domain/variable/variable.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { StepDeployment } from "../../domain/workflow/deployment.ts";
import type { OwnerVariables } from "../run/variables.ts";

type Values = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

/** What one step gets of its owner's variables. */
export interface StepVariables {
  /** `process.env` of its code. */
  readonly environment: Texts;
  /** Those that its expressions may read. */
  readonly expressions: Texts;
  /** Its secret props, with values in place of `{{ env.NAME }}`. */
  readonly secrets: Values;
  /** Secret values among them, to mask. */
  readonly masked: readonly string[];
  /** Of the environment: another one needs another context, since modules read it when they are loaded. */
  readonly revision: string | undefined;
}

/** Whether the step may read variables: only then they are looked up. */
export const mayReadVariables = (step: StepDeployment, secrets: Values): boolean =>
  step.readsVariables === true ||
  readsInExpressions(step.props) !== undefined ||
  Object.values(secrets).some((value) => variableReadBy(value) !== undefined);

/** Expressions get only variables whose names their texts contain, because components of others run in the same context. */
export function stepVariables(
  step: StepDeployment,
  secrets: Values,
  owned: OwnerVariables | undefined,
): StepVariables | { readonly error: RunError } {
  const { values = {}, revision } = owned ?? {};
  const named = namedIn(readsInExpressions(step.props) ?? "", values);
  const given = step.readsVariables === true ? values : {};
  const replaced: Record<string, unknown> = { ...secrets };
  for (const [prop, text] of Object.entries(secrets)) {
    const name = variableReadBy(text);
    if (name === undefined) continue;
    const variable = Object.hasOwn(values, name) ? values[name] : undefined;
    if (variable === undefined) return { error: missing(prop, name) };
    replaced[prop] = variable.value;
  }
  return {
    environment: textsOf(given),
    expressions: textsOf(named),
    secrets: replaced,
    masked: Object.values({ ...given, ...named }).flatMap(({ value, isSecret }) => (isSecret ? [value] : [])),
    revision: step.readsVariables === true ? revision : undefined,
  };
}

/** A secret prop names a variable that is not set. */
const missing = (prop: string, name: string): RunError => ({
  name: "Error",
  code: "expression_failed",
  message: `prop '${prop}': ${notSet(name)}: hw variables set ${name}`,
});

const textsOf = (values: VariableValues): Texts => Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value]));

function namedIn(text: string, values: VariableValues): VariableValues {
  const words = new Set(text.match(/\w+/g));
  return Object.fromEntries(Object.entries(values).filter(([name]) => words.has(name)));
}

/** JSON of props by their object: a deployment is executed many times. */
const searched = new WeakMap<Values, string>();

/** The text of the props, if their expressions may read variables. */
function readsInExpressions(props: Values): string | undefined {
  let text = searched.get(props);
  if (text === undefined) {
    // A line break before a name must not become the first letter of it.
    const json = JSON.stringify(props).replaceAll(/\\[bfnrt]/g, " ");
    text = json.includes("{{") && /\benv\b/.test(json) ? json : "";
    searched.set(props, text);
  }
  return text === "" ? undefined : text;
}
