import { hash } from "node:crypto";
import { z } from "zod";
import { resourceNameOf } from "../domain/ids.ts";
import { listenerId, listenerRef } from "./references.ts";
import { baseStatus, columnsOf, dateTime, defineKind, type Resource } from "./resource.ts";
import { exactlyOneOf, withRules } from "./rules.ts";

const spec = withRules(
  z.object({
    channel: z
      .enum(["$errors", "$logs"])
      .describe("Channel of each new emitter: $errors for the errors of its runs, $logs for their logs."),
    listener: listenerId.optional().describe("Listener by public id: a source (`dc_…`), a workflow (`p_…`) or a webhook (`wh_…`)."),
    listenerRef: listenerRef.optional().describe("Listener by kind and name within the namespace. It may be created later."),
  }),
  exactlyOneOf(["listener", "listenerRef"], "they name the listener"),
);
export type AutoSubscriptionSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  listener: z.string().optional().describe("Public id of the listener when the status was written."),
  since: dateTime().optional().describe("Sources and workflows created after this time are covered, RFC 3339."),
  subscriptions: z.int().optional().describe("Number of existing Subscriptions that it created."),
});
export type AutoSubscriptionStatus = z.infer<typeof status>;
export type AutoSubscriptionResource = Resource<AutoSubscriptionSpec, AutoSubscriptionStatus>;

const message = "it cannot be changed, because subscriptions were created from it: create another AutoSubscription and delete this one";

export const autoSubscriptionKind = defineKind<AutoSubscriptionSpec, AutoSubscriptionStatus>({
  kind: "AutoSubscription",
  plural: "autosubscriptions",
  shortNames: ["hwasub"],
  description:
    "Subscribes a listener to a channel of each source and workflow of the owner that is created after it. It does not cover existing ones: subscribe to them.",
  columns: columnsOf(
    { name: "Channel", type: "string", path: ".spec.channel", description: "Channel." },
    { name: "Listener", type: "string", path: ".status.listener", description: "Public id of the listener." },
    { name: "Subscriptions", type: "integer", path: ".status.subscriptions", description: "Number of subscriptions it created." },
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

/** Name of the Subscription that is made for a source trigger of a workflow. */
export const triggerSubscriptionName = (workflow: string, source: string): string => madeSubscriptionName(`${workflow}-trigger`, source);

/** Name of the Subscription that an AutoSubscription creates for an emitter. It is deterministic, so creating it twice creates one. */
export function madeSubscriptionName(autoSubscription: string, emitterId: string): string {
  const end = `-${resourceNameOf(emitterId)}`;
  if (autoSubscription.length + end.length <= 63) return autoSubscription + end;
  const digest = hash("sha256", autoSubscription).slice(0, 8);
  return `${autoSubscription.slice(0, 63 - end.length - 9)}-${digest}${end}`;
}
