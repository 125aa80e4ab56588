import type { Prop } from "../../client/generated/operations.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { definitionOf, hasDefault, type PropDefinition } from "./definition.ts";
import { exampleFor, typedValues, type GivenValues } from "./given-values.ts";
import type { PropReader, Values } from "./reader.ts";

export interface FormOptions {
  readonly reader: PropReader;
  /** Props that are known before any value is chosen. */
  readonly props: readonly Prop[];
  readonly given: GivenValues;
  /** Values that a source has already. */
  readonly before?: Values;
  /** The API shows no secret, and keeps one that is not sent: it is not asked for. */
  readonly keepsSecrets?: boolean;
}

/**
 * Completes the given values: asks for each missing one, in order, and for the props that a chosen value adds.
 * @throws Failure without a terminal, which names the flag
 */
export async function completeValues({ client, terminal }: Context, form: FormOptions): Promise<Values> {
  let props = form.props.map(definitionOf);
  let values: Values = { ...form.before, ...typedValues(form.given, props) };
  const answered = new Set<string>();
  const reload = async (): Promise<void> => {
    if (!props.some(({ reloads }) => reloads)) return;
    props = (await form.reader.props(values)).map(definitionOf);
    values = { ...values, ...typedValues(form.given, props) };
  };
  if (props.every((prop) => !prop.reloads || !isMissing(prop, values))) await reload();
  for (;;) {
    const isKept = (prop: PropDefinition): boolean => form.keepsSecrets === true && prop.isSecret;
    const missing = props.filter((prop) => isMissing(prop, values) && !isKept(prop) && !answered.has(prop.name));
    const [next] = missing;
    if (next === undefined) return values;
    if (!terminal.isInteractive) throw missingFailure(missing);
    const { askFor } = await import("./ask.ts");
    const value = await askFor(next, { client, read: (request) => form.reader.options(values, request) });
    answered.add(next.name);
    if (value !== undefined) values = { ...values, [next.name]: value };
    if (next.reloads) await reload();
  }
}

const isMissing = (prop: PropDefinition, values: Values): boolean =>
  !prop.needsNoValue && !prop.isOptional && !hasDefault(prop) && values[prop.name] === undefined;

function missingFailure(missing: readonly PropDefinition[]): Error {
  const [first, ...others] = missing;
  if (first === undefined) return usageFailure("a prop is missing");
  const names = missing.map(({ name }) => name).join(", ");
  const about = first.description === undefined ? "" : ` (${first.description.split("\n")[0]})`;
  return others.length === 0
    ? usageFailure(`prop ${first.name} of type ${first.type} is missing${about}`, exampleFor(first))
    : usageFailure(`props are missing: ${names}`, `give ${missing.map(({ name }) => `--prop ${name}=…`).join(" ")}, or --props FILE`);
}
