import { createHash } from "node:crypto";
import { z } from "zod";
import { resourceNameOf } from "../domain/ids.ts";
import { listenerId, listenerRef } from "./references.ts";
import { baseStatus, columnsOf, dateTime, defineKind } from "./resource.ts";
import { exactlyOneOf, withRules } from "./rules.ts";

const spec = withRules(
  z.object({
    channel: z
      .enum(["$errors", "$logs"])
      .describe("Which stream of each new emitter: $errors for what its runs throw, $logs for their logs."),
    listener: listenerId.optional().describe("Who gets it, by public id: a source (`dc_…`), a workflow (`p_…`) or a webhook (`wh_…`)."),
    listenerRef: listenerRef.optional().describe("Who gets it, by kind and name within the namespace. It may be created later."),
  }),
  exactlyOneOf(["listener", "listenerRef"], "they say who hears the stream"),
);
export type AutoSubscriptionSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  listener: z.string().optional().describe("Whom the reference stood for when this was written: a public id."),
  since: dateTime().optional().describe("Sources and workflows created later than this are covered, RFC 3339."),
  subscriptions: z.int().optional().describe("How many Subscriptions it made that exist."),
});
export type AutoSubscriptionStatus = z.infer<typeof status>;

const message = "it cannot be changed, since subscriptions were made after it: create another AutoSubscription and delete this one";

export const autoSubscriptionKind = defineKind<AutoSubscriptionSpec, AutoSubscriptionStatus>({
  kind: "AutoSubscription",
  plural: "autosubscriptions",
  shortNames: ["hwasub"],
  description:
    "Subscribes a listener to a stream of each source and workflow of the owner that is created after it. Existing ones are not covered: subscribe to them.",
  columns: columnsOf(
    { name: "Channel", type: "string", path: ".spec.channel", description: "Which stream." },
    { name: "Listener", type: "string", path: ".status.listener", description: "Who hears it." },
    { name: "Subscriptions", type: "integer", path: ".status.subscriptions", description: "How many it made." },
  ),
  selectable: [".status.id"],
  immutable: [
    { field: "channel", message },
    { field: "listener", message },
    { field: "listenerRef", message },
  ],
  spec,
  status,
});

/** Name of the Subscription that an AutoSubscription makes for an emitter: the same each time, so that making it twice makes one. */
export function madeSubscriptionName(autoSubscription: string, emitterId: string): string {
  const end = `-${resourceNameOf(emitterId)}`;
  if (autoSubscription.length + end.length <= 63) return autoSubscription + end;
  const hash = createHash("sha256").update(autoSubscription).digest("hex").slice(0, 8);
  return `${autoSubscription.slice(0, 63 - end.length - 9)}-${hash}${end}`;
}
