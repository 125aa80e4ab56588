import type { DataStore, Operations } from "../../client/generated/operations.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { present, recordOf } from "../values.ts";
import type { Spec } from "./manifest.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { Session } from "./session.ts";

/** Without its entries: they are data, as the events of a source are. */
export const dataStoreResource: ResourceKind = {
  name: "DataStore",
  listed: kindNamed("data-stores"),
  specOf: async (_session, item) => {
    const { name, description } = item as unknown as DataStore;
    return present({ name, description: description ?? undefined });
  },
  normalize: async (_session, { name, description }) => present({ name, description }),
  create: (session, { name, spec }) => {
    const body = present({ name: spec["name"] ?? name, description: spec["description"] });
    return session.client.call("createDataStore", { body: body as Operations["createDataStore"]["body"] }); // The API checks it.
  },
  update: (session, id, { spec }) => {
    const body = present({ name: spec["name"], description: spec["description"] });
    return session.client.call("updateDataStore", { path: { id }, body: body as Operations["updateDataStore"]["body"] }); // The API checks it.
  },
};

/** Props whose `{storeId}` has the id of a store in place of the name of a DataStore. */
export async function withStoreIds(session: Session, props: unknown, what: string): Promise<Spec> {
  const entries = Object.entries(recordOf(props, `props of ${what}`)).map(async ([name, value]) => {
    const store = storeIn(value);
    const isName = store !== undefined && !store.startsWith(`${kindNamed("data-stores").prefix}_`);
    return [name, isName ? { storeId: await session.idOf("DataStore", store) } : value] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The store in `{"storeId": …}`. */
export function storeIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("storeId" in value)) return undefined;
  return typeof value.storeId === "string" ? value.storeId : undefined;
}
