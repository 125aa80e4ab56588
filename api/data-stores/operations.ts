import { dataStoreKind, type DataStoreResource } from "../../crds/data-store.ts";
import { parseLimit } from "../../domain/page.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { ownerParameters, ownPages } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { listResources } from "../list-operations.ts";
import { createDataStore, deleteDataStore, storeResponse, storeResponses, updateDataStore } from "./data-store.ts";
import { entryParts, entryResponse, noEntry, performOn, storedText } from "./entries.ts";
import {
  dataStoreChanges,
  dataStoreDeletion,
  dataStoreFields,
  dataStoreSchema,
  entryDeletion,
  entryFields,
  entryPages,
  entrySchema,
  setEntrySchema,
  storeKeyText,
} from "./schemas.ts";

const storeOf = (call: Call, { access }: ApiContext): Promise<DataStoreResource> =>
  access.get(dataStoreKind, "dataStore", pathOf(call, "id"), call.user);

const keyOf = (call: Call): string => parse(storeKeyText, pathOf(call, "key"));

const respond = async (store: DataStoreResource, context: ApiContext, changedAt?: number) => {
  await context.ports.pages.show(dataStoreKind, store);
  return ok(await storeResponse(store, context, changedAt));
};

const storeOperations = [
  operation({
    route: "GET /data_stores",
    id: "listDataStores",
    summary: "List data stores",
    query: ownPages,
    responses: page(dataStoreSchema),
    handle: async (call, context) =>
      listResources(
        { kind: dataStoreKind, schema: dataStoreSchema, respond: (stores, _namespace, { ports }) => storeResponses(stores, { ports }) },
        await context.access.owner(call),
        call,
        context,
      ),
  }),
  operation({
    route: "POST /data_stores",
    id: "createDataStore",
    change: { action: "create", kind: "DataStore" },
    summary: "Create a data store",
    description: "Its id is the value of a prop of type `data_store`.",
    query: ownerParameters,
    body: dataStoreFields,
    responses: one(dataStoreSchema),
    errors: [429],
    handle: async (call, context) => respond(await createDataStore(call.body(), await context.access.owner(call), context), context),
  }),
  operation({
    route: "GET /data_stores/:id",
    id: "getDataStore",
    summary: "Get a data store with its size",
    responses: one(dataStoreSchema),
    handle: async (call, context) => respond(await storeOf(call, context), context),
  }),
  operation({
    route: "PUT /data_stores/:id",
    id: "updateDataStore",
    change: { action: "update", kind: "DataStore" },
    summary: "Rename a data store",
    description: "Absent fields stay unchanged. Null removes a description.",
    body: dataStoreChanges,
    responses: one(dataStoreSchema),
    errors: [409],
    handle: async (call, context) => {
      const store = await updateDataStore(await storeOf(call, context), call.body(), context);
      return respond(store, context, context.ports.clock.now());
    },
  }),
  operation({
    route: "DELETE /data_stores/:id",
    id: "deleteDataStore",
    change: { action: "delete", kind: "DataStore" },
    summary: "Delete a data store that no source and no workflow uses, with its entries",
    query: dataStoreDeletion,
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      await deleteDataStore(await storeOf(call, context), call.query().force === true, context);
      return noContent;
    },
  }),
];

const entryOperations = [
  operation({
    route: "GET /data_stores/:id/entries",
    id: "listDataStoreEntries",
    summary: "List the entries of a data store",
    description: "In the order of their keys. Cursors are keys.",
    query: entryPages,
    responses: page(entrySchema),
    handle: async (call, context) => {
      const { limit, after, values } = call.query();
      const store = await storeOf(call, context);
      const from = after === undefined || after === "" ? undefined : parse(storeKeyText, after);
      const request = { limit: parseLimit(limit ?? 100), after: from, withValues: values !== false };
      return { status: 200, list: { form: "event", parts: () => entryParts(store, request, context) } };
    },
  }),
  operation({
    route: "GET /data_stores/:id/entries/:key",
    id: "getDataStoreEntry",
    summary: "Get an entry of a data store",
    responses: one(entrySchema),
    handle: async (call, context) => {
      const store = await storeOf(call, context);
      const key = keyOf(call);
      const { entry } = await performOn<"get">(store, { kind: "get", key }, context);
      if (entry === null) throw noEntry(key);
      return ok(entryResponse(entry));
    },
  }),
  operation({
    route: "PUT /data_stores/:id/entries/:key",
    id: "setDataStoreEntry",
    change: { action: "update", kind: "DataStore" },
    summary: "Set an entry of a data store",
    description: "Runs see it at once. 409 `data_store_changed` if the entry does not have the version in `if_version`.",
    body: entryFields,
    takesEvent: true, // A value may be as large as an event.
    responses: one(setEntrySchema),
    errors: [409, 429],
    handle: async (call, context) => {
      const store = await storeOf(call, context);
      const key = keyOf(call);
      const { value, ttl, if_version: ifVersion } = call.body();
      const text = storedText(value);
      const options = { ...(ttl === undefined ? {} : { ttlSeconds: ttl }), ...(ifVersion === undefined ? {} : { ifVersion }) };
      const { version } = await performOn<"set">(store, { kind: "set", key, value: text, ...options }, context);
      return ok({ key, version });
    },
  }),
  operation({
    route: "DELETE /data_stores/:id/entries/:key",
    id: "deleteDataStoreEntry",
    change: { action: "update", kind: "DataStore" },
    summary: "Delete an entry of a data store",
    query: entryDeletion,
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      const store = await storeOf(call, context);
      const key = keyOf(call);
      const { if_version: ifVersion } = call.query();
      const condition = ifVersion === undefined ? {} : { ifVersion };
      const { existed } = await performOn<"delete">(store, { kind: "delete", key, ...condition }, context);
      if (!existed) throw noEntry(key);
      return noContent;
    },
  }),
  operation({
    route: "POST /data_stores/:id/clear",
    id: "clearDataStore",
    change: { action: "update", kind: "DataStore" },
    summary: "Delete all entries of a data store",
    responses: nothing,
    handle: async (call, context) => {
      await performOn(await storeOf(call, context), { kind: "clear" }, context);
      return noContent;
    },
  }),
];

/** Data stores of a user or an organization, and their entries. */
export const dataStoreOperations = [...storeOperations, ...entryOperations];
