import type { SourceSpec } from "../../crds/source.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { checkConfiguredProps } from "../../domain/component/prop-values.ts";
import type { Keep } from "../resources/secret-texts.ts";

export type StoredProps = Pick<SourceSpec, "props" | "secrets">;
const none: StoredProps = { props: {}, secrets: {} };

/**
 * Checks prop values and separates secret ones for storage. `given` replaces the previous values, except that an absent secret
 * stays, because clients cannot read it to send it back (null removes it). Without `given`, all values stay that the definition
 * still has.
 * @param unchecked names of values whose types are not known yet, because they contain expressions
 * @throws InvalidInput that lists every problem, without secret values
 */
export async function storedProps(
  definition: ComponentDefinition,
  given: Readonly<Record<string, unknown>> | undefined,
  before: StoredProps | undefined,
  keep: Keep,
  unchecked: ReadonlySet<string> = new Set(),
): Promise<StoredProps> {
  const kept = keepKnown(definition, before ?? none, given);
  const hidden = new Set(Object.keys(kept.secrets));
  const checked = checkConfiguredProps(
    definition,
    { ...Object.fromEntries([...hidden].map((name) => [name, ""])), ...(given ?? kept.props) },
    new Set([...hidden, ...unchecked]),
  );
  const added = checked.secrets.filter((name) => !hidden.has(name));
  const texts = Object.fromEntries(added.map((name) => [name, JSON.stringify(checked.values[name])]));
  const plain = Object.entries(checked.values).filter(([name]) => !checked.secrets.includes(name) && !hidden.has(name));
  // The values come from JSON.
  return {
    props: Object.fromEntries(plain) as SourceSpec["props"],
    secrets: { ...kept.secrets, ...(added.length === 0 ? {} : await keep(texts)) },
  };
}

/** Keeps stored values that the definition has a prop for, and stored secrets that are still secret and not replaced. */
function keepKnown(
  definition: ComponentDefinition,
  before: StoredProps,
  given: Readonly<Record<string, unknown>> | undefined,
): StoredProps {
  const props = new Map(definition.props.map((prop) => [prop.name, prop]));
  const isKnown = (name: string): boolean => props.has(name) || definition.hasAdditionalProps;
  const staysSecret = (name: string): boolean => props.get(name)?.secret === true && (given === undefined || !Object.hasOwn(given, name));
  return {
    props: Object.fromEntries(Object.entries(before.props).filter(([name]) => isKnown(name))),
    secrets: Object.fromEntries(Object.entries(before.secrets).filter(([name]) => staysSecret(name))),
  };
}
