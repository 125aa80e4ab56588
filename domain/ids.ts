import { customRandom } from "nanoid";
import { InvalidInput } from "./errors.ts";

/** Prefix of each kind of public id (specification, "Identifier prefixes"; the last fourteen are ours). */
export const idPrefixes = {
  component: "sc",
  source: "dc",
  workflow: "p",
  webhook: "wh",
  subscription: "sub",
  organization: "o",
  user: "u",
  deployment: "d",
  cell: "c",
  account: "apn",
  run: "r",
  autoSubscription: "asub",
  apiKey: "pk",
  delivery: "dlv",
  emit: "em",
  replay: "rp",
  app: "app",
  auditEntry: "al",
  invitation: "inv",
  oauthClient: "oac",
  connection: "con",
  variable: "var",
  dataStore: "ds",
} as const;
export type IdKind = keyof typeof idPrefixes;

/** Nouns of the kinds, for messages. */
export const kindNouns: Readonly<Record<IdKind, string>> = {
  component: "a saved component",
  source: "a source",
  workflow: "a workflow",
  webhook: "a webhook",
  subscription: "a subscription",
  organization: "an organization",
  user: "a user",
  deployment: "a deployment",
  cell: "a step of a workflow",
  account: "an account",
  run: "a run",
  autoSubscription: "an auto-subscription",
  apiKey: "an API key",
  delivery: "a delivery",
  emit: "an emit",
  replay: "a replay",
  app: "an app",
  auditEntry: "an entry of the audit log",
  invitation: "an invitation",
  oauthClient: "an OAuth client",
  connection: "a connection",
  variable: "a variable",
  dataStore: "a data store",
};

/** Fills with random bytes; a platform passes its cryptographic source. */
export type RandomBytes = (bytes: number) => Uint8Array;

// Lower-case only: an id is also the name of a Kubernetes resource.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
const newLength = 12;
// A resource name has at most 63 characters, and an owner's namespace adds "hw-u-".
const idPattern = /^([a-z]{1,4})_([0-9a-z]{1,57})$/;
const kindByPrefix = new Map<string, IdKind>(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind])); // keys of idPrefixes are IdKind

/** A new id: prefix, `_`, 12 characters of lower-case base36 (62 bits). */
export function newId(kind: IdKind, random: RandomBytes): string {
  return `${idPrefixes[kind]}_${customRandom(alphabet, newLength, random)()}`;
}

/** Undefined if the text is not an id. Ids of other origin may have 1 to 57 characters after the prefix. */
export function kindOfId(text: string): IdKind | undefined {
  const prefix = idPattern.exec(text)?.[1];
  return prefix === undefined ? undefined : kindByPrefix.get(prefix);
}

export function isId(kind: IdKind, text: string): boolean {
  return kindOfId(text) === kind;
}

/** `dc_x` → `dc-x`: the name of the resource with this id. @throws InvalidInput if it is not an id */
export function resourceNameOf(id: string): string {
  if (kindOfId(id) === undefined)
    throw new InvalidInput(`id '${id}' is invalid: it must be a prefix such as dc_ and lower-case letters and digits`);
  return id.replace("_", "-");
}

/** `dc-x` → `dc_x`; undefined if the name has no id. */
export function idOfResourceName(name: string): string | undefined {
  const id = name.replace("-", "_");
  return name.includes("_") || kindOfId(id) === undefined ? undefined : id;
}

/** `u_x` → `hw-u-x`: the one namespace of an owner. @throws InvalidInput when it is neither a user nor an organization. */
export function namespaceOfOwner(owner: string): string {
  if (!isOwner(owner)) throw new InvalidInput(`owner '${owner}' is invalid: it must be the id of a user (u_…) or an organization (o_…)`);
  return `hw-${resourceNameOf(owner)}`;
}

/** Undefined for a namespace that belongs to no owner. */
export function ownerOfNamespace(namespace: string): string | undefined {
  const id = namespace.startsWith("hw-") ? idOfResourceName(namespace.slice(3)) : undefined;
  return id !== undefined && isOwner(id) ? id : undefined;
}

function isOwner(id: string): boolean {
  return isId("user", id) || isId("organization", id);
}
