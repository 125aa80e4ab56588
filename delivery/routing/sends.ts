import type { Commit } from "../../domain/run/commit.ts";
import { traceContext } from "../../domain/traces.ts";
import type { CommittedSend } from "../../domain/workflow/run-commit.ts";
import type { Delivery } from "./delivery.ts";

/** The kinds of `$.send` that are deliveries: emits are events of the commit, and live streams read `sse`. */
export const deliveredSends = ["http", "email", "s3"] as const;
export type DeliveredSend = (typeof deliveredSends)[number];

type Send = CommittedSend & { readonly kind: DeliveredSend };

const channelOf = (kind: DeliveredSend): string => `$send.${kind}`;
const isDelivered = (send: CommittedSend): send is Send => deliveredSends.some((kind) => kind === send.kind);

/**
 * What `$.send` asked for in a run of a workflow, in the commit that ends the run. Each is a delivery that names the workflow in place of a
 * webhook and of a subscription, so attempts, retries and dead letters are those of webhooks. Its event is the run, its payload the argument.
 */
export function sendsOf({ source, owner, run, workflow, traceparent, tracestate }: Commit): readonly Delivery[] {
  if (workflow?.sends === undefined) return [];
  return workflow.sends.filter(isDelivered).map(({ id, kind, argument, at }) => ({
    id,
    subscription: source,
    listener: source,
    event: {
      emitId: id,
      eventId: run.id,
      source,
      owner,
      channel: channelOf(kind),
      ts: at,
      payload: argument,
      ...traceContext({ traceparent, tracestate }),
    },
    attempt: 1,
  }));
}

/** Undefined for the delivery of an event. */
export function sendKindOf({ subscription, listener, event }: Delivery): DeliveredSend | undefined {
  return subscription === listener ? deliveredSends.find((kind) => channelOf(kind) === event.channel) : undefined;
}
