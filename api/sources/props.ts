import type { SourceSpec } from "../../crds/source.ts";
import type { ComponentDefinition } from "../../domain/definition.ts";
import { checkConfiguredProps } from "../../domain/prop-values.ts";
import type { Keep } from "../resources/secret-texts.ts";

export type StoredProps = Pick<SourceSpec, "props" | "secrets">;
const none: StoredProps = { props: {}, secrets: {} };

/**
 * Prop values as they are stored: checked, the secret ones apart. `given` replaces what was there, except that a secret which is
 * not given stays: nobody could read it to send it back (null removes it). Without `given`, everything stays that the definition
 * still knows.
 * @throws InvalidInput that lists every complaint and no secret value
 */
export async function storedProps(
  definition: ComponentDefinition,
  given: Readonly<Record<string, unknown>> | undefined,
  before: StoredProps | undefined,
  keep: Keep,
): Promise<StoredProps> {
  const kept = keepKnown(definition, before ?? none, given);
  const hidden = new Set(Object.keys(kept.secrets));
  const checked = checkConfiguredProps(
    definition,
    { ...Object.fromEntries([...hidden].map((name) => [name, ""])), ...(given ?? kept.props) },
    hidden,
  );
  const fresh = checked.secrets.filter((name) => !hidden.has(name));
  const texts = Object.fromEntries(fresh.map((name) => [name, JSON.stringify(checked.values[name])]));
  const plain = Object.entries(checked.values).filter(([name]) => !checked.secrets.includes(name) && !hidden.has(name));
  // Values were read from JSON, so they are JSON.
  return {
    props: Object.fromEntries(plain) as SourceSpec["props"],
    secrets: { ...kept.secrets, ...(fresh.length === 0 ? {} : await keep(texts)) },
  };
}

/** Of what was stored: values that the (perhaps new) definition has a prop for, secrets that are still secret and not given anew. */
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
