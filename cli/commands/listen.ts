import type { Definition } from "../command.ts";
import { targetOf } from "../listen/target.ts";
import { ListenSession } from "../listen/session.ts";
import { signingKeyOf } from "../listen/signature.ts";
import { idOf } from "../references.ts";
import { readText } from "../values.ts";

export const command: Definition = {
  description:
    "Posts the events that a webhook gets to a program on your machine, as they are committed, and prints its responses, until Ctrl-C. " +
    "Method, headers and body are those of a delivery. Nothing counts as a delivery, is retried or changes anything on the server. " +
    "After a lost connection it goes on where it was.",
  arguments: [{ name: "<webhook>", description: "a webhook", completes: "webhook" }],
  options: [
    { flags: "--to <port|url>", description: "a port of this machine, with the path of the webhook's URL; or a URL" },
    { flags: "--signing-key <key>", description: "sign like the webhook: whsec_…, or @file; without it there are no signatures" },
  ],
  examples: [
    { command: "hw listen orders --to 3000", does: "Post the events of a webhook to port 3000.", isInert: true },
    {
      command: "hw listen orders --to http://localhost:3000/hook --signing-key @key.txt",
      does: "Post them to a URL, signed.",
      isInert: true,
    },
  ],
  operations: [
    "getWebhook",
    "listMySubscriptions",
    "listSubscriptions",
    "listMySources",
    "listSources",
    "listMyWorkflows",
    "listWorkflows",
    "listEvents",
    "listWorkflowEvents",
    "streamEvents",
    "streamWorkflowEvents",
  ],
  run: async (context, given) => {
    const { client, out } = context;
    const to = given.required("to");
    const named = given.text("signing-key");
    const key = named === undefined ? undefined : signingKeyOf(named.startsWith("@") ? await readText(named.slice(1)) : named);
    const webhook = await idOf(client, "webhooks", given.required("webhook"));
    const { data } = await client.call("getWebhook", { path: { id: webhook } });
    const target = targetOf(to, data.url);
    if (key === undefined)
      out.note("hw: requests have no signature: the server shows the signing key only once. Give it with --signing-key");
    if (data.url.includes("//***@")) out.note("hw: requests have no password: the server does not show that of the webhook");
    if (!data.active) out.note(`hw: ${webhook} is switched off: what it would get is posted nevertheless`);
    await new ListenSession(context, { webhook, target, key }).run();
  },
};
