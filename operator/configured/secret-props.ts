import { hash } from "node:crypto";
import type { SecretHolder } from "../../crds/secret-values.ts";
import type { SourceResource, SourceSpec } from "../../crds/source.ts";
import { accountIdsAmong, accountPropsOf } from "../../domain/component/account-props.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { readAccountAuth, type AccountPorts } from "./account-auth.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Blocked } from "./blocked.ts";
import type { AccountReference, SecretProp, SecretProps } from "../versions.ts";

type Values = Readonly<Record<string, unknown>>;

/** Values of the secret props by name, or why they are unavailable. */
export type SecretPropValues =
  | { readonly values: Values }
  | {
      readonly blocked: Blocked;
      /** If accounts were deleted: the remaining props and values. */
      readonly without?: { readonly props: SecretProps; readonly values: Values };
    };

type WithProps = { readonly spec: Pick<SourceSpec, "props" | "secrets"> };

export function secretPropsOf({ spec }: WithProps, definition: ComponentDefinition): SecretProps {
  const types = new Map(definition.props.map(({ name, type }) => [name, type]));
  const secrets = Object.entries(spec.secrets).map(([name, reference]): [string, SecretProp] => [
    name,
    // Sealed texts are written by Headwater and are JSON. A Secret for a string prop contains the plain text.
    { reference, asText: reference.sealed === undefined && types.get(name) === "string" },
  ]);
  const accounts = accountPropsOf(definition, spec.props).map(({ prop, account, app }): [string, AccountReference] => [
    prop,
    { account, app },
  ]);
  return Object.fromEntries([...accounts, ...secrets]);
}

/** Can the values change without a change of the source? */
export function hasLiveSecrets({ spec }: WithProps): boolean {
  return Object.values(spec.secrets).some(({ secretKeyRef }) => secretKeyRef !== undefined);
}

/** Ids of the accounts in the props of the source, and of its running version. */
export const accountsOfSource = ({ spec, status }: Pick<SourceResource, "spec" | "status">): readonly string[] => [
  ...new Set([spec.props, status.running?.props ?? {}].flatMap(accountIdsAmong)),
];

/** Changes of accounts are watched. */
export function usesAccounts({ spec }: WithProps): boolean {
  return accountIdsAmong(spec.props).length > 0;
}

/** Value of an app prop: `{authProvisionId, $auth}`. @throws NotFound, InvalidInput */
export async function readSecretProps(holder: SecretHolder, props: SecretProps, ports: AccountPorts): Promise<Values> {
  const read = async ([name, prop]: [string, SecretProp | AccountReference]): Promise<[string, unknown]> => {
    if ("account" in prop) {
      const found = await readAccountAuth(holder.namespace, name, prop, ports);
      if ("blocked" in found) throw new BlockedAccount(found.blocked);
      return [name, { authProvisionId: prop.account, $auth: found.auth }];
    }
    const text = await ports.secretValues.read(holder, prop.reference);
    return [name, valueOf(text, prop.asText)];
  };
  return Object.fromEntries(await Promise.all(Object.entries(props).map(read)));
}

class BlockedAccount extends NotFound {
  readonly blocked: Blocked;

  constructor(blocked: Blocked) {
    super(blocked.message, { code: "account_blocked" });
    this.blocked = blocked;
  }
}

/** Like readSecretProps, with the problem as a value. */
export async function trySecretProps(holder: SecretHolder, props: SecretProps, ports: AccountPorts): Promise<SecretPropValues> {
  try {
    return { values: await readSecretProps(holder, props, ports) };
  } catch (error) {
    if (error instanceof BlockedAccount)
      return {
        blocked: error.blocked,
        ...(error.blocked.reason === "AccountNotFound" ? await withoutAccounts(holder, props, ports) : {}),
      };
    if (!(error instanceof HeadwaterError) || !(error instanceof NotFound || error instanceof InvalidInput)) throw error;
    const reason = error instanceof NotFound ? "SecretNotFound" : "SecretInvalid";
    return { blocked: { reason, message: error.message, transient: error instanceof NotFound, poll: true } };
  }
}

/** Credentials of a deleted account must no longer be used. Empty if the other values are unavailable too. */
async function withoutAccounts(
  holder: SecretHolder,
  props: SecretProps,
  ports: AccountPorts,
): Promise<Pick<Extract<SecretPropValues, { blocked: Blocked }>, "without">> {
  const kept: [string, SecretProp | AccountReference][] = [];
  for (const [name, prop] of Object.entries(props)) {
    const isGone = "account" in prop && isBlockedBy(await readAccountAuth(holder.namespace, name, prop, ports), "AccountNotFound");
    if (!isGone) kept.push([name, prop]);
  }
  const rest = await trySecretProps(holder, Object.fromEntries(kept), ports);
  return "values" in rest ? { without: { props: Object.fromEntries(kept), values: rest.values } } : {};
}

const isBlockedBy = (found: Awaited<ReturnType<typeof readAccountAuth>>, reason: Blocked["reason"]): boolean =>
  "blocked" in found && found.blocked.reason === reason;

/** Compares sets of values without storing them; sealed before it is stored. */
export function digestOf(values: Values): string {
  const sorted = Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted));
}

/** True if the deployed values differ. An entry sealed with a lost key is rewritten. */
export async function haveChanged(
  deployed: { readonly secretsSeen?: string } | undefined,
  values: Readonly<Record<string, unknown>>,
  ports: Pick<OperatorPorts, "secrets">,
): Promise<boolean> {
  if (deployed === undefined) return false;
  if (deployed.secretsSeen === undefined) return Object.keys(values).length > 0;
  try {
    return (await ports.secrets.open(deployed.secretsSeen)) !== digestOf(values);
  } catch (error) {
    if (error instanceof InvalidInput) return true;
    throw error;
  }
}

/** The values of secret props, sealed for the runners of a pool. */
export interface SealedProps {
  readonly secrets: string | null;
  /** A digest of them, sealed for the operator. */
  readonly secretsSeen?: string;
}

/** @throws NotFound, InvalidInput */
export async function sealProps(
  pool: string,
  holder: SecretHolder,
  props: SecretProps,
  ports: AccountPorts & Pick<OperatorPorts, "secrets">,
): Promise<SealedProps> {
  if (Object.keys(props).length === 0) return { secrets: null };
  const values = await readSecretProps(holder, props, ports);
  return {
    secrets: await ports.secrets.sealForPool(pool, JSON.stringify(values)),
    secretsSeen: await ports.secrets.seal(digestOf(values)),
  };
}

/** Parses the text as JSON if possible. A string prop takes other JSON types verbatim: `123` is the text 123. */
function valueOf(text: string, asText: boolean): unknown {
  const value = parsed(text);
  return asText && typeof value !== "string" ? text : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
