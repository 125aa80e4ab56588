import { age } from "../output/time.ts";
import { kindOf } from "./kind.ts";

export const apps = kindOf({
  name: "apps",
  noun: "app",
  aliases: [],
  prefix: "app",
  operations: ["listApps", "getApp", "deleteApp"],
  list: (client, query) => client.call("listApps", { query }),
  listOfOrganization: (client, org, query) => client.call("listApps", { query: { ...query, org_id: org } }),
  // An id counts as well.
  get: (client, id) => client.call("getApp", { path: { slug: id } }),
  delete: (client, id) => client.call("deleteApp", { path: { slug: id } }),
  namesOf: ({ name_slug: slug }) => [slug],
  needsKind: true,
  columns: [
    { header: "SLUG", value: ({ name_slug: slug }) => slug, isWhole: true },
    { header: "KIND", value: ({ kind }) => kind },
    { header: "NAME", value: ({ name }) => name },
    { header: "ORIGIN", value: ({ origin }) => origin },
    { header: "CLIENT", value: ({ has_client: has }) => (has ? "yes" : "no") },
    { header: "ID", value: ({ id }) => id, isWide: true },
  ],
});

export const oauthClients = kindOf({
  name: "oauth-clients",
  noun: "oauth-client",
  aliases: ["oac"],
  prefix: "oac",
  operations: ["listMyOAuthClients", "listOAuthClients", "getOAuthClient", "deleteOAuthClient"],
  list: (client, query) => client.call("listMyOAuthClients", { query }),
  listOfOrganization: (client, org, query) => client.call("listOAuthClients", { path: { org_id: org }, query }),
  get: (client, id) => client.call("getOAuthClient", { path: { id } }),
  delete: (client, id) => client.call("deleteOAuthClient", { path: { id } }),
  namesOf: ({ app, name }) => [app, name],
  needsKind: true,
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "APP", value: ({ app }) => app },
    { header: "CLIENT ID", value: ({ client_id: id }) => id },
    { header: "HEALTHY", value: ({ healthy }) => String(healthy ?? "-") },
    { header: "AGE", value: ({ created_at: at }) => age(Date.parse(at) / 1_000) },
    { header: "PROBLEM", value: ({ problem }) => problem ?? "" },
  ],
});
