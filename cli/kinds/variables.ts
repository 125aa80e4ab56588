import { age } from "../output/time.ts";
import { kindOf, onePage } from "./kind.ts";
import type { Client } from "../../client/client.ts";

/** With their names in place of ids. */
const listed = async (client: Client, query: { readonly org_id?: string } = {}) =>
  onePage(
    client.call("listVariables", { query }).then(({ data }) => ({ data: data.map((variable) => ({ ...variable, id: variable.name })) })),
  );

export const variables = kindOf({
  name: "variables",
  noun: "variable",
  aliases: [],
  operations: ["listVariables", "deleteVariable"],
  list: (client) => listed(client),
  listOfOrganization: (client, org) => listed(client, { org_id: org }),
  delete: (client, id) => client.call("deleteVariable", { path: { name: id } }),
  namesOf: ({ name }) => [name],
  needsKind: true,
  columns: [
    { header: "NAME", value: ({ name }) => name, isWhole: true },
    { header: "VALUE", value: ({ value }) => value ?? "(secret)" },
    { header: "ORIGIN", value: ({ origin }) => origin },
    { header: "AGE", value: ({ updated_at: at }) => age(Date.parse(at) / 1_000) },
    { header: "PROBLEM", value: ({ problem }) => problem ?? "" },
  ],
});
