import { age } from "../output/time.ts";
import { kindOf, onePage } from "./kind.ts";

const ageOfDate = (iso: string): string => age(Date.parse(iso) / 1_000);

export const accounts = kindOf({
  name: "accounts",
  noun: "account",
  aliases: ["apn"],
  prefix: "apn",
  operations: ["listMyAccounts", "listAccounts", "getAccount", "deleteAccount"],
  list: (client, query) => client.call("listMyAccounts", { query }),
  listOfOrganization: (client, org, query) => client.call("listAccounts", { path: { org_id: org }, query }),
  get: (client, id) => client.call("getAccount", { path: { id } }),
  delete: (client, id, { isForced }) => client.call("deleteAccount", { path: { id }, query: isForced ? { force: true } : {} }),
  namesOf: ({ name }) => [name],
  consolePath: "accounts",
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "APP", value: ({ app }) => app?.name_slug ?? "-" },
    { header: "NAME", value: ({ name }) => name },
    { header: "HEALTHY", value: ({ healthy, needs_reconnect: isOver }) => (isOver ? "needs reconnect" : String(healthy ?? "-")) },
    { header: "AGE", value: ({ created_at: at }) => ageOfDate(at) },
    { header: "PROBLEM", value: ({ problem }) => problem ?? "" },
  ],
});

export const organizations = kindOf({
  name: "orgs",
  noun: "org",
  aliases: ["organizations", "organization"],
  prefix: "o",
  operations: ["getMe", "getOrganization", "deleteOrganization"],
  list: (client) => onePage(client.call("getMe", {}).then(({ data }) => ({ data: data.orgs }))),
  get: (client, id) => client.call("getOrganization", { path: { org_id: id } }),
  delete: (client, id) => client.call("deleteOrganization", { path: { org_id: id } }),
  namesOf: ({ orgname, name }) => [orgname, name],
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "ORGNAME", value: ({ orgname }) => orgname },
    { header: "NAME", value: ({ name }) => name },
    { header: "EMAIL", value: ({ email }) => email, isWide: true },
    { header: "CONFIRMED", value: ({ email_confirmed: isConfirmed }) => (isConfirmed ? "yes" : "no"), isWide: true },
  ],
});

export const keys = kindOf({
  name: "keys",
  noun: "key",
  aliases: ["pk"],
  prefix: "pk",
  operations: ["listKeys", "revokeKey"],
  list: (client) => onePage(client.call("listKeys", {})),
  delete: (client, id) => client.call("revokeKey", { path: { id } }),
  namesOf: ({ name }) => [name],
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "NAME", value: ({ name }) => name },
    { header: "PREFIX", value: ({ prefix }) => prefix },
    { header: "SCOPES", value: ({ scopes }) => scopes.join(",") },
    { header: "LAST USED", value: ({ last_used_at: at }) => age(at) },
    { header: "EXPIRES", value: ({ expires_at: at }) => (at === null ? "never" : new Date(at * 1_000).toISOString().slice(0, 10)) },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
  ],
});

export const registry = kindOf({
  name: "registry",
  noun: "registry",
  aliases: [],
  operations: ["listRegistry"],
  list: (client) => onePage(client.call("listRegistry", {})),
  nameOf: ({ key }) => key ?? "",
  columns: [
    { header: "KEY", value: ({ key }) => key ?? "-", isWhole: true },
    { header: "NAME", value: ({ name }) => name },
    { header: "VERSION", value: ({ version }) => version ?? "-" },
    { header: "TYPE", value: ({ type }) => type },
    { header: "DESCRIPTION", value: ({ description }) => description ?? "", isWide: true },
  ],
});
