import { bytes } from "../output/bytes.ts";
import { age } from "../output/time.ts";
import { kindOf } from "./kind.ts";

export const dataStores = kindOf({
  name: "data-stores",
  noun: "data-store",
  aliases: ["ds"],
  prefix: "ds",
  operations: ["listDataStores", "getDataStore", "deleteDataStore"],
  list: (client, query) => client.call("listDataStores", { query }),
  listOfOrganization: (client, org, query) => client.call("listDataStores", { query: { ...query, org_id: org } }),
  get: (client, id) => client.call("getDataStore", { path: { id } }),
  delete: (client, id, { isForced }) => client.call("deleteDataStore", { path: { id }, query: isForced ? { force: true } : {} }),
  namesOf: ({ name }) => [name],
  needsKind: true,
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "NAME", value: ({ name }) => name },
    { header: "ENTRIES", value: ({ entries }) => String(entries) },
    { header: "SIZE", value: ({ bytes: size }) => bytes(size) },
    { header: "AGE", value: ({ created_at: at }) => age(Date.parse(at) / 1_000) },
    { header: "DESCRIPTION", value: ({ description }) => description ?? "", isWide: true },
  ],
});
