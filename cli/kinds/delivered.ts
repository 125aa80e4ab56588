import { age } from "../output/time.ts";
import { kindOf, percentage } from "./kind.ts";

export const webhooks = kindOf({
  name: "webhooks",
  noun: "webhook",
  aliases: ["wh"],
  prefix: "wh",
  operations: ["listMyWebhooks", "listWebhooks", "getWebhook", "deleteWebhook"],
  list: (client, query) => client.call("listMyWebhooks", { query }),
  listOfOrganization: (client, org, query) => client.call("listWebhooks", { path: { org_id: org }, query }),
  get: (client, id) => client.call("getWebhook", { path: { id } }),
  delete: (client, id) => client.call("deleteWebhook", { path: { id } }),
  namesOf: ({ name }) => [name],
  consolePath: "webhooks",
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "NAME", value: ({ name }) => name ?? "-" },
    { header: "URL", value: ({ url }) => url },
    { header: "STATE", value: ({ state }) => state, isWhole: true },
    { header: "ORDERED", value: ({ ordered }) => String(ordered), isWide: true },
    { header: "SUCCESS", value: ({ success_rate: rate }) => percentage(rate), isWide: true },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
    { header: "PROBLEM", value: ({ problem }) => problem?.message ?? "" },
  ],
});

export const subscriptions = kindOf({
  name: "subscriptions",
  noun: "subscription",
  aliases: ["sub", "subs"],
  prefix: "sub",
  operations: ["listMySubscriptions", "listSubscriptions", "deleteSubscription"],
  list: (client, query) => client.call("listMySubscriptions", { query }),
  listOfOrganization: (client, org, query) => client.call("listSubscriptions", { path: { org_id: org }, query }),
  delete: (client, id) => client.call("deleteSubscription", { path: { id } }),
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "EMITTER", value: ({ emitter_id: id }) => id ?? "-" },
    { header: "CHANNEL", value: ({ event_name: name }) => (name === "" ? "-" : name) },
    { header: "LISTENER", value: ({ listener_id: id }) => id ?? "-" },
  ],
});

export const autoSubscriptions = kindOf({
  name: "auto-subscriptions",
  noun: "auto-subscription",
  aliases: ["asub"],
  prefix: "asub",
  operations: ["listMyAutoSubscriptions", "listAutoSubscriptions"],
  list: (client, query) => client.call("listMyAutoSubscriptions", { query }),
  listOfOrganization: (client, org, query) => client.call("listAutoSubscriptions", { path: { org_id: org }, query }),
  columns: [
    { header: "ID", value: ({ id }) => id, isWhole: true },
    { header: "CHANNEL", value: ({ event_name: name }) => name ?? "-" },
    { header: "LISTENER", value: ({ listener_id: id }) => id ?? "-" },
  ],
});
