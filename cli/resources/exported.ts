import type { Item } from "../kinds/kind.ts";
import { storeIn } from "./data-stores.ts";
import { documentOf, type Spec } from "./manifest.ts";
import { resourceKinds } from "./plan.ts";
import type { ResourceKind } from "./resource-kind.ts";
import { resourceName, type Session } from "./session.ts";

export interface Selected {
  readonly kind: ResourceKind;
  readonly item: Item;
}

interface Reference {
  readonly kind: string;
  readonly name: string;
}

/** Resources as documents. They refer to each other by name, so that the file can be applied where ids are different. */
export async function documentsOf(session: Session, selected: readonly Selected[]): Promise<unknown[]> {
  const names = namesOf(selected);
  return Promise.all(
    selected.map(async ({ kind, item }) => {
      const id = String(item["id"]);
      const { active, ...spec } = withReferences(await kind.specOf(session, item), names);
      const name = names.get(id)?.name ?? id;
      return documentOf({ kind: kind.name, name, exportedId: id, spec: active === false ? { active, ...spec } : spec });
    }),
  );
}

/** Of two things with the same name, the second one is named after its id. */
function namesOf(selected: readonly Selected[]): ReadonlyMap<string, Reference> {
  const taken = new Set<string>();
  return new Map(
    selected.map(({ kind, item }) => {
      const id = String(item["id"]);
      const wanted = kind.nameOf?.(item) ?? resourceName(kind.listed, item);
      const name = taken.has(`${kind.name}/${wanted}`) ? id.replace("_", "-") : wanted;
      taken.add(`${kind.name}/${name}`);
      return [id, { kind: kind.name, name }];
    }),
  );
}

/** `emitter`, `listener` and `source` as references by name, where what they refer to is exported as well. */
function withReferences(spec: Spec, names: ReadonlyMap<string, Reference>): Spec {
  const entries = Object.entries(spec).map(([field, value]) => {
    if (field === "triggers" && Array.isArray(value))
      return [field, value.map((trigger) => withReferences(trigger as Spec, names))] as const; // Ours.
    if (field === "steps" && Array.isArray(value)) return [field, value.map((step) => withReferences(step as Spec, names))] as const; // Ours.
    if (field === "props") return [field, withStoreNames(value as Spec, names)] as const; // Ours.
    const reference = typeof value === "string" && referringFields.has(field) ? names.get(value) : undefined;
    if (reference === undefined) return [field, value] as const;
    return field === "source" ? (["sourceRef", { name: reference.name }] as const) : ([`${field}Ref`, reference] as const);
  });
  return Object.fromEntries(entries);
}

/** Stores as references by name, where they are exported as well. */
function withStoreNames(props: Spec, names: ReadonlyMap<string, Reference>): Spec {
  const entries = Object.entries(props).map(([prop, value]) => {
    const found = names.get(storeIn(value) ?? (typeof value === "string" ? value : ""));
    return [prop, found?.kind === "DataStore" ? { storeId: found.name } : value] as const;
  });
  return Object.fromEntries(entries);
}

const referringFields = new Set(["emitter", "listener", "source"]);

/** Everything but components, which are exported as the code of what uses them. */
export const everything = async (session: Session): Promise<Selected[]> =>
  (await Promise.all(resourceKinds.filter(({ name }) => name !== "Component").map((kind) => ofKind(session, kind)))).flat();

export const ofKind = async (session: Session, kind: ResourceKind): Promise<Selected[]> =>
  (await session.items(kind.listed.name)).filter((item) => kind.isExported?.(item) !== false).map((item) => ({ kind, item }));
