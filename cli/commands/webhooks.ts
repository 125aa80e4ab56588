import type { Definition, Subcommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { fieldLines } from "../output/fields.ts";
import { idOf } from "../references.ts";
import { isOn, jsonOf, present } from "../values.ts";
import { deliveries } from "./webhook-deliveries.ts";

const webhook = { name: "<webhook>", description: "a webhook", completes: "webhook" } as const;
const onOff = ["on", "off"] as const;

const create: Subcommand = {
  name: "create",
  summary: "create a webhook, and show its signing key",
  description: "Creates a webhook. Only this answer contains the signing key, with which the receiver verifies deliveries.",
  arguments: [{ name: "<url>", description: "address that events are posted to" }],
  options: [
    { flags: "--name <name>", description: "display name, by which commands find it" },
    { flags: "--description <text>", description: "for people" },
    { flags: "--ordered", description: "deliver the events of each source in order, one at a time" },
  ],
  examples: [{ command: "hw webhooks create https://example.com/orders --name orders", does: "Create a webhook." }],
  operations: ["createWebhook"],
  run: async ({ client, out }, given) => {
    const body = { url: given.required("url"), ...present({ name: given.text("name"), description: given.text("description") }) };
    const answer = await client.call("createWebhook", { body: given.flag("ordered") ? { ...body, ordered: true } : body });
    const { id, signing_key: key } = answer.data;
    await out.document(answer, () => [`webhook ${id} created`, `signing key: ${key}`]);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "change a webhook",
  arguments: [webhook],
  options: [
    { flags: "--url <url>", description: "address that events are posted to" },
    { flags: "--name <name>", description: "display name" },
    { flags: "--description <text>", description: "for people" },
    { flags: "--ordered <on|off>", description: "deliver the events of each source in order, one at a time", choices: onOff },
    { flags: "--active <on|off>", description: "whether events are posted", choices: onOff },
  ],
  examples: [{ command: "hw webhooks update orders --url https://example.com/orders/2", does: "Change the address." }],
  operations: ["updateWebhook"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "webhooks", given.required("webhook"));
    const flags = { ordered: isOn(given.text("ordered")), active: isOn(given.text("active")) };
    const body = present({ url: given.text("url"), name: given.text("name"), description: given.text("description"), ...flags });
    await out.done(await client.call("updateWebhook", { path: { id }, body }), `webhook ${id} changed`);
  },
};

const test: Subcommand = {
  name: "test",
  summary: "post a test event to a webhook, and show the response",
  description: "Posts a test event to a webhook, and shows the response. Exit code 1 if it was not delivered.",
  arguments: [webhook],
  options: [{ flags: "--event <json>", description: "body to post, or @file" }],
  examples: [{ command: "hw webhooks test orders", does: "Show whether the endpoint accepts events." }],
  operations: ["testWebhook"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "webhooks", given.required("webhook"));
    const event = given.text("event");
    const body = event === undefined ? {} : { event: await jsonOf(event, "--event") };
    const answer = await client.call("testWebhook", { path: { id }, body });
    await out.document(answer, () => fieldLines(answer.data));
    const { outcome, cause, response_status: status } = answer.data;
    if (outcome === "failed") throw new Failure(`the test event was not delivered: ${cause ?? `the endpoint responded with ${status}`}`);
  },
};

const rotate: Subcommand = {
  name: "rotate",
  summary: "replace the signing key",
  description: "Creates a new signing key and shows it. The previous key goes on to sign as well for the overlap.",
  arguments: [webhook],
  options: [{ flags: "--overlap <seconds>", description: "how long the previous key also signs; 0 to end it at once", value: "count" }],
  examples: [{ command: "hw webhooks rotate orders --overlap 3600", does: "Replace the key; the previous one signs for another hour." }],
  operations: ["rotateSigningKey"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "webhooks", given.required("webhook"));
    const answer = await client.call("rotateSigningKey", { path: { id }, body: present({ overlap_seconds: given.count("overlap") }) });
    await out.document(answer, () => [`signing key: ${answer.data.signing_key ?? "-"}`, ...untilLine(answer.data.previous_key_until)]);
  },
};

const untilLine = (until: number | null): string[] =>
  until === null ? [] : [`the previous key signs until ${new Date(until * 1_000).toISOString()}`];

const endPreviousKey: Subcommand = {
  name: "end-previous-key",
  summary: "stop signing with the previous key",
  arguments: [webhook],
  examples: [{ command: "hw webhooks end-previous-key orders", does: "End the overlap of a rotation." }],
  operations: ["endPreviousKey"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "webhooks", given.required("webhook"));
    await out.done(await client.call("endPreviousKey", { path: { id } }), `only the current key of ${id} signs`);
  },
};

export const command: Definition = {
  description: "Manages webhooks: addresses that events are posted to, signed and with retries.",
  examples: [{ command: "hw webhooks list", does: "List webhooks." }],
  operations: [],
  subcommands: [listSubcommand("webhooks"), create, update, test, rotate, endPreviousKey, ...deliveries],
};
