import { createHash } from "node:crypto";
import type { SecretReference } from "../../crds/secret-reference.ts";
import type { SourceSpec } from "../../crds/source.ts";
import { accountIdsAmong, accountPropsOf } from "../../domain/account-props.ts";
import type { ComponentDefinition } from "../../domain/definition.ts";
import { HeadwaterError, InvalidInput, NotFound } from "../../domain/errors.ts";
import { readAccountAuth, type AccountPorts, type AccountReference } from "./account-auth.ts";
import type { Blocked } from "./blocked.ts";

/** Where the value of a secret prop is, and whether the text there is taken as it is. */
export interface SecretProp {
  readonly reference: SecretReference;
  readonly asText: boolean;
}
/** Props whose values are secret: those that say so, and those of an app, which get the account's credentials. */
export type SecretProps = Readonly<Record<string, SecretProp | AccountReference>>;

type Values = Readonly<Record<string, unknown>>;

/** The values of the secret props by name, or why they cannot be had. */
export type SecretPropValues =
  | { readonly values: Values }
  | {
      readonly blocked: Blocked;
      /** Where accounts do not exist any more: what there is without them. */
      readonly without?: { readonly props: SecretProps; readonly values: Values };
    };

type PropsOfSpec = { readonly spec: Pick<SourceSpec, "props" | "secrets"> };

export function secretPropsOf({ spec }: PropsOfSpec, definition: ComponentDefinition): SecretProps {
  const types = new Map(definition.props.map(({ name, type }) => [name, type]));
  const secrets = Object.entries(spec.secrets).map(([name, reference]): [string, SecretProp] => [
    name,
    // Sealed texts are ours and always JSON; somebody who writes a Secret for a text prop writes the text.
    { reference, asText: reference.sealed === undefined && types.get(name) === "string" },
  ]);
  const accounts = accountPropsOf(definition, spec.props).map(({ prop, account, app }): [string, AccountReference] => [
    prop,
    { account, app },
  ]);
  return Object.fromEntries([...accounts, ...secrets]);
}

/** Do the values lie where they may change without a change of the source? */
export function hasLiveSecrets({ spec }: PropsOfSpec): boolean {
  return Object.values(spec.secrets).some(({ secretKeyRef }) => secretKeyRef !== undefined);
}

/** Accounts tell us of their changes. */
export function usesAccounts({ spec }: PropsOfSpec): boolean {
  return accountIdsAmong(spec.props).length > 0;
}

/** Of an app prop: `{authProvisionId, $auth}`. @throws NotFound, InvalidInput */
export async function readSecretProps(namespace: string, props: SecretProps, ports: AccountPorts): Promise<Values> {
  const read = async ([name, prop]: [string, SecretProp | AccountReference]): Promise<[string, unknown]> => {
    if ("account" in prop) {
      const found = await readAccountAuth(namespace, name, prop, ports);
      if ("blocked" in found) throw new BlockedAccount(found.blocked);
      return [name, { authProvisionId: prop.account, $auth: found.auth }];
    }
    const text = await ports.secretValues.read(namespace, prop.reference);
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

/** The same, with what is wrong as a value. */
export async function trySecretProps(namespace: string, props: SecretProps, ports: AccountPorts): Promise<SecretPropValues> {
  try {
    return { values: await readSecretProps(namespace, props, ports) };
  } catch (error) {
    if (error instanceof BlockedAccount)
      return {
        blocked: error.blocked,
        ...(error.blocked.reason === "AccountNotFound" ? await withoutAccounts(namespace, props, ports) : {}),
      };
    if (!(error instanceof HeadwaterError) || !(error instanceof NotFound || error instanceof InvalidInput)) throw error;
    const reason = error instanceof NotFound ? "SecretNotFound" : "SecretInvalid";
    return { blocked: { reason, message: error.message, passing: error instanceof NotFound, lookAgain: true } };
  }
}

/** Whoever deletes an account does not want it used any more. Nothing when the rest cannot be had either. */
async function withoutAccounts(
  namespace: string,
  props: SecretProps,
  ports: AccountPorts,
): Promise<Pick<Extract<SecretPropValues, { blocked: Blocked }>, "without">> {
  const kept: [string, SecretProp | AccountReference][] = [];
  for (const [name, prop] of Object.entries(props)) {
    const isGone = "account" in prop && isBlockedBy(await readAccountAuth(namespace, name, prop, ports), "AccountNotFound");
    if (!isGone) kept.push([name, prop]);
  }
  const rest = await trySecretProps(namespace, Object.fromEntries(kept), ports);
  return "values" in rest ? { without: { props: Object.fromEntries(kept), values: rest.values } } : {};
}

const isBlockedBy = (found: Awaited<ReturnType<typeof readAccountAuth>>, reason: Blocked["reason"]): boolean =>
  "blocked" in found && found.blocked.reason === reason;

/** What tells two sets of values apart without being them; sealed before it is kept anywhere. */
export function digestOf(values: Values): string {
  const sorted = Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

/** The text is the value as JSON, or any other text as it is. For a text prop `123` is a text, and `"123"` is one in JSON. */
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
