import { age } from "../output/time.ts";
import { kindOf } from "./kind.ts";

interface WebhookState {
  readonly active: boolean;
  readonly disabled?: { readonly reason: string } | undefined;
}

const stateOf = ({ active, disabled }: WebhookState): string => disabled?.reason ?? (active ? "active" : "paused");

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
    { header: "STATE", value: stateOf },
    { header: "ORDERED", value: ({ ordered }) => String(ordered), isWide: true },
    { header: "AGE", value: ({ created_at: at }) => age(at) },
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
