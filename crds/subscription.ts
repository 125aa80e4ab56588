import { z } from "zod";
import { emitterId, emitterRef, listenerId, listenerRef } from "./references.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { canHearItself } from "../domain/event/subscription-match.ts";
import { exactlyOneOf, withRules } from "./rules.ts";

const spec = withRules(
  z.object({
    emitter: emitterId
      .optional()
      .describe(
        "Emitter by public id (`dc_…`, `p_…`; `o_…` for the $errors of an organization's workflows; the owner's `u_…` for the $errors or $logs of all their sources and workflows), or `dc_*`, `p_*` for all sources or workflows of the owner.",
      ),
    emitterRef: emitterRef.optional().describe("Emitter by kind and name within the namespace. It may be created later."),
    listener: listenerId.optional().describe("Listener by public id: a source (`dc_…`), a workflow (`p_…`) or a webhook (`wh_…`)."),
    listenerRef: listenerRef.optional().describe("Listener by kind and name within the namespace. It may be created later."),
    channel: z
      .string()
      .max(255)
      .default("")
      .describe('Channel of the events: "" for the default channel, $errors for errors of runs, $logs for their logs.'),
  }),
  exactlyOneOf(["emitter", "emitterRef"], "they name the emitter"),
  exactlyOneOf(["listener", "listenerRef"], "they name the listener"),
  {
    cel: [
      "!(has(self.emitter) && has(self.listener) && self.emitter == self.listener)",
      "&& !(has(self.emitterRef) && has(self.listenerRef) && self.emitterRef.kind == self.listenerRef.kind && self.emitterRef.name == self.listenerRef.name)",
      "|| !(self.channel in ['', '$errors', '$logs']) && (has(self.emitter) ? self.emitter.startsWith('dc_') || self.emitter.startsWith('p_') : self.emitterRef.kind in ['Source', 'Workflow'])",
    ].join(" "),
    holds: ({ emitter, listener, emitterRef: from, listenerRef: to, channel }) => {
      const isSelf =
        (emitter !== undefined && emitter === listener) || (from !== undefined && from.kind === to?.kind && from.name === to.name);
      const emits = emitter === undefined ? from?.kind === "Source" || from?.kind === "Workflow" : /^(dc|p)_/.test(emitter);
      return !isSelf || (emits && canHearItself(channel));
    },
    message: "a source or workflow can listen to itself only on a channel of its own: otherwise each of its events would cause another",
  },
);
export type SubscriptionSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  emitter: z.string().optional().describe("Public id or glob of the emitter when the status was written."),
  listener: z.string().optional().describe("Public id of the listener when the status was written."),
});
export type SubscriptionStatus = z.infer<typeof status>;
export type SubscriptionResource = Resource<SubscriptionSpec, SubscriptionStatus>;

/** Labels on subscriptions that the API created, to find those of a listener or an emitter. */
export const subscriptionLabels = { listener: "headwater.dev/listener", emitter: "headwater.dev/emitter" } as const;

export const subscriptionKind = defineKind<SubscriptionSpec, SubscriptionStatus>({
  kind: "Subscription",
  plural: "subscriptions",
  shortNames: ["hwsub"],
  description: "Routes the events of an emitter to a listener: each event is delivered at least once, under the same id on every attempt.",
  columns: columnsOf(
    { name: "Emitter", type: "string", path: ".status.emitter", description: "Emitter of the events." },
    { name: "Listener", type: "string", path: ".status.listener", description: "Listener that receives them." },
    { name: "Channel", type: "string", path: ".spec.channel", description: "Channel; empty for the default channel." },
  ),
  selectable: [".status.id", ".status.emitter", ".status.listener"],
  spec: spec as unknown as z.ZodType<SubscriptionSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});
