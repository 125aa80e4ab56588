import { dataStoreKind, type DataStoreResource } from "../../crds/data-store.ts";
import { labels } from "../../crds/resource.ts";
import type { PropComplaint } from "../../domain/component/prop-types.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { storeOf } from "../../domain/component/store-props.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { isId, resourceNameOf } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";

/**
 * Checks that each prop of type `data_store` that has a value refers to a store of the source's owner. Stores of others are not found, like
 * missing ones.
 * @throws InvalidInput that lists every problem
 */
export async function checkStores(
  { props }: ComponentDefinition,
  values: Readonly<Record<string, unknown>>,
  namespace: string,
  { ports }: Pick<ApiContext, "ports">,
): Promise<void> {
  const named = props.flatMap(({ name, type }) => {
    const store = type === "data_store" && Object.hasOwn(values, name) ? storeOf(values[name]) : undefined;
    return store === undefined ? [] : [{ prop: name, store }]; // The check of values reports invalid ones.
  });
  const complaints: PropComplaint[] = [];
  for (const { prop, store } of named) {
    if ((await findStore(store, namespace, ports)) !== undefined) continue;
    const message = `prop '${prop}' names data store ${store}, which is not found among those of the source's owner: GET /v1/data_stores lists them`;
    complaints.push({ prop, message });
  }
  if (complaints.length > 0)
    throw new InvalidInput(complaints.map(({ message }) => message).join("; "), { code: "invalid_props", details: complaints });
}

async function findStore(reference: string, namespace: string, { store }: ApiContext["ports"]): Promise<DataStoreResource | undefined> {
  const hasId = isId("dataStore", reference);
  // Search only the namespace: a label with the id of another owner's store can be forged.
  const { items } = hasId ? await store.list(dataStoreKind, { namespace, labels: { [labels.id]: reference }, limit: 10 }) : { items: [] };
  const named = await store.find(dataStoreKind, namespace, hasId ? resourceNameOf(reference) : reference);
  return [...items, named].find((each) => each !== undefined && each.metadata.deletionTimestamp === undefined);
}
