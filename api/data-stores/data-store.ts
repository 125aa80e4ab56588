import { dataStoreKind, type DataStoreResource, type DataStoreSpec } from "../../crds/data-store.ts";
import { labels } from "../../crds/resource.ts";
import { storeOf } from "../../domain/component/store-props.ts";
import type { StoreSize } from "../../domain/data-store/registered-stores.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import type { z } from "zod";
import type { ApiContext } from "../context.ts";
import type { Answered } from "../http/response/answered.ts";
import { changeResource, unlessDeleted } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import { findPropUsers, refuseInUse, type PropUsers } from "../resources/prop-users.ts";
import type { dataStoreChanges, dataStoreFields, dataStoreSchema } from "./schemas.ts";

/** The store can be used when this returns: the operator registers it again. */
export async function createDataStore(
  { name, description }: z.output<typeof dataStoreFields>,
  owner: string,
  { ports }: ApiContext,
): Promise<DataStoreResource> {
  const id = newId("dataStore", ports.randomBytes);
  const store = await ports.store.create(dataStoreKind, {
    name: resourceNameOf(id),
    namespace: await ports.owners.ensure(owner),
    labels: { [labels.id]: id, [labels.owner]: owner },
    spec: { name, ...(description === undefined ? {} : { description }) },
  });
  await confirmOwned(dataStoreKind, store, owner, ports);
  await ports.dataStores.register({ id, owner, name: store.metadata.name }).catch(async (error: unknown) => {
    await unlessDeleted(ports.store.delete(dataStoreKind, store.metadata.namespace, store.metadata.name));
    throw error;
  });
  return store;
}

export function updateDataStore(
  store: DataStoreResource,
  changes: z.output<typeof dataStoreChanges>,
  { ports }: ApiContext,
): Promise<DataStoreResource> {
  return changeResource(dataStoreKind, ports.store, store, async ({ spec }): Promise<DataStoreSpec> => {
    const name = changes.name ?? spec.name;
    const description = changes.description === null ? undefined : (changes.description ?? spec.description);
    return { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
  });
}

/** @throws Conflict while sources or workflows use it, unless `force` */
export async function deleteDataStore(store: DataStoreResource, force: boolean, context: ApiContext): Promise<void> {
  const { namespace, name } = store.metadata;
  if (!force) refuseInUse(await usersOf(store, context), "data store", publicIdOf(store), "data_store_in_use");
  await unlessDeleted(context.ports.store.delete(dataStoreKind, namespace, name));
  // The operator does the same. If it had not seen the store yet, nothing else would.
  await context.ports.dataStores.delete(publicIdOf(store));
}

function usersOf(store: DataStoreResource, { ports }: ApiContext): Promise<PropUsers> {
  const { namespace, name } = store.metadata;
  const references = [publicIdOf(store), name];
  return findPropUsers(
    { namespace, references, refersTo: (props, id) => Object.values(props).some((value) => storeOf(value) === id) },
    ports,
  );
}

type Ports = Pick<ApiContext, "ports">;

/** @param changedAt epoch ms of a change that the operator has not seen yet */
export async function storeResponse(
  store: DataStoreResource,
  { ports }: Ports,
  changedAt?: number,
): Promise<Answered<typeof dataStoreSchema>> {
  const id = publicIdOf(store);
  return shownStore(store, (await ports.dataStores.sizes([id])).get(id), changedAt);
}

export async function storeResponses(stores: readonly DataStoreResource[], { ports }: Ports): Promise<Answered<typeof dataStoreSchema>[]> {
  const sizes = await ports.dataStores.sizes(stores.map(publicIdOf));
  return stores.map((store) => shownStore(store, sizes.get(publicIdOf(store))));
}

function shownStore(
  store: DataStoreResource,
  { entries, bytes }: StoreSize = { entries: 0, bytes: 0 },
  changedAt?: number,
): Answered<typeof dataStoreSchema> {
  const { metadata, spec, status } = store;
  const created = Date.parse(metadata.creationTimestamp);
  return {
    id: publicIdOf(store),
    name: spec.name ?? metadata.name,
    description: spec.description ?? null,
    entries,
    bytes,
    created_at: new Date(created).toISOString(),
    updated_at: new Date(Math.max(created, changedAt ?? status.updatedAt ?? created)).toISOString(),
  };
}
