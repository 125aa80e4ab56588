import type { SecretHolder } from "../../crds/secret-values.ts";
import type { SourceSpec } from "../../crds/source.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";
import { readSecretProps, secretPropsOf } from "./secret-props.ts";

interface GivenValues {
  /** By prop name, including secret ones; null removes one. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Stored secrets, the default for absent ones. */
  readonly stored?: SourceSpec["secrets"] | undefined;
  readonly definition: ComponentDefinition;
  /** Whose secrets and accounts these are. */
  readonly holder: SecretHolder;
  readonly pool: string;
  /** Before messages about a missing secret or account. */
  readonly label?: string;
}

/** Values that a request has and no resource stores, as in a deployment: the secret ones and accounts are sealed for the pool. @throws InvalidInput */
export async function sealValues(
  { props, stored = {}, definition, holder, pool, label = "" }: GivenValues,
  ports: Pick<OperatorPorts, "store" | "secretValues" | "secrets">,
): Promise<{ readonly plain: SourceSpec["props"]; readonly secrets: string | null }> {
  const isSecret = (prop: string): boolean => definition.props.some((each) => each.name === prop && each.secret === true);
  const given = Object.entries(props).filter(([, value]) => value !== null);
  const kept = Object.entries(stored).filter(([prop]) => isSecret(prop) && !Object.hasOwn(props, prop));
  const plain = Object.fromEntries(given.filter(([prop]) => !isSecret(prop))) as SourceSpec["props"]; // From JSON.
  const references = secretPropsOf({ spec: { props: plain, secrets: Object.fromEntries(kept) } }, definition);
  const read = await readSecretProps(holder, references, ports).catch((error: unknown) => {
    // For such a request a missing secret or account is invalid input, not an unknown address.
    throw error instanceof NotFound ? new InvalidInput(label + error.message, { code: "not_configurable", cause: error }) : error;
  });
  const secrets = { ...read, ...Object.fromEntries(given.filter(([prop]) => isSecret(prop))) };
  return { plain, secrets: Object.keys(secrets).length === 0 ? null : await ports.secrets.sealForPool(pool, JSON.stringify(secrets)) };
}
