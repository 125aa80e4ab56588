import { isDeepStrictEqual } from "node:util";
import { notFound, usageFailure } from "../failure.ts";
import { appResource, oauthClientResource } from "./apps.ts";
import { dataStoreResource } from "./data-stores.ts";
import type { Item } from "../kinds/kind.ts";
import type { Manifest, Spec } from "./manifest.ts";
import { accountResource, autoSubscriptionResource, componentResource, subscriptionResource, webhookResource } from "./others.ts";
import type { ResourceKind } from "./resource-kind.ts";
import { sourceResource } from "./source.ts";
import { workflowResource } from "./workflow.ts";
import type { Session } from "./session.ts";
import { variableResource } from "./variables.ts";

/** Kinds in the order in which they are applied: others refer to the first ones. */
export const resourceKinds: readonly ResourceKind[] = [
  componentResource,
  appResource,
  oauthClientResource,
  accountResource,
  variableResource,
  dataStoreResource,
  webhookResource,
  sourceResource,
  workflowResource,
  subscriptionResource,
  autoSubscriptionResource,
];

/** What applying a resource would do. */
export interface Step {
  readonly action: "create" | "update" | "unchanged";
  readonly kind: ResourceKind;
  readonly manifest: Manifest;
  /** Of the existing one. */
  readonly id: string | undefined;
  readonly current: Spec | undefined;
  /** As it would be; undefined if it refers to what is yet to be created. */
  readonly wanted: Spec | undefined;
}

/** Sorts resources so that references come first. @throws Failure for a kind that the API does not have */
export function inOrder(manifests: readonly Manifest[]): { readonly kind: ResourceKind; readonly manifest: Manifest }[] {
  const names = resourceKinds.map(({ name }) => name);
  const paired = manifests.map((manifest) => {
    const kind = resourceKinds.find(({ name }) => name === manifest.kind);
    if (kind === undefined)
      throw usageFailure(
        `${manifest.kind} ${manifest.name} cannot be applied over the API`,
        `kinds are: ${names.join(", ")}; use kubectl for others`,
      );
    return { kind, manifest };
  });
  return paired.toSorted((one, other) => names.indexOf(one.kind.name) - names.indexOf(other.kind.name));
}

/** Compares a resource with what the server has. Secret values cannot be compared: with `isForced` their resource is updated. */
export async function planStep(session: Session, kind: ResourceKind, manifest: Manifest, isForced: boolean): Promise<Step> {
  const wanted = await kind.normalize(session, manifest.spec);
  const item = await findExisting(session, kind, manifest);
  if (item === undefined) return { action: "create", kind, manifest, id: undefined, current: undefined, wanted: withoutSecrets(wanted) };
  const current = await kind.specOf(session, item);
  const id = String(item["id"]);
  session.remember(kind.name, manifest.name, id);
  const isSame = kind.update === undefined || (!isForced && contains(current, withoutSecrets(wanted)));
  return { action: isSame ? "unchanged" : "update", kind, manifest, id, current, wanted: { ...current, ...withoutSecrets(wanted) } };
}

/** By the id where it was exported, by its content, by its name. */
async function findExisting(session: Session, kind: ResourceKind, manifest: Manifest): Promise<Item | undefined> {
  const items = await session.items(kind.listed.name);
  const exported = items.find((item) => item["id"] === manifest.exportedId);
  if (exported !== undefined) return exported;
  if (kind.finds !== undefined) return kind.finds(session, items, manifest);
  const named = await session.find(kind.listed.name, manifest.name);
  return named ?? items.find((item) => item["name"] === manifest.spec["name"] && manifest.spec["name"] !== undefined);
}

function withoutSecrets({ secrets: _secrets, ...spec }: Spec): Spec {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [name, Array.isArray(value) ? value.map(stepWithoutSecrets) : value]),
  );
}

const stepWithoutSecrets = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "secrets" in value ? withoutSecrets(value as Spec) : value; // An object.

/** Whether a value has all fields of another; further fields are defaults that the file omits. */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && whole.length === part.length && part.every((each, index) => contains(whole[index], each));
  if (typeof part !== "object" || part === null) return isDeepStrictEqual(whole, part);
  const fields = typeof whole === "object" && whole !== null ? (whole as Spec) : undefined; // An object.
  return fields !== undefined && Object.entries(part).every(([name, each]) => contains(fields[name], each));
}

/** Carries out a step. @returns the id */
export async function applyStep(session: Session, { action, kind, manifest, id }: Step): Promise<string> {
  if (action === "create") {
    const { data } = await kind.create(session, manifest);
    session.remember(kind.name, manifest.name, data.id);
    return data.id;
  }
  if (id === undefined) throw notFound(`${kind.name} ${manifest.name} does not exist`);
  if (action === "update") await kind.update?.(session, id, manifest);
  return id;
}
