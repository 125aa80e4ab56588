import { createHash } from "node:crypto";
import { nextHop, nextWay } from "../../domain/invocation/hops.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { isJson } from "../../domain/json.ts";
import { traceContext } from "../../domain/traces.ts";
import type { Route, RouteListener } from "../../domain/source/deployment.ts";
import { dueSince, type Delivery } from "../routing/delivery.ts";
import type { DeliveryPorts } from "../ports.ts";

/** `backlog_full`: the source or its owner is at the bound of its backlog; deliver it later, it counts as no attempt. */
export type DeliveredToSource = "settled" | "backlog_full";

/**
 * An event that a source listens to becomes an invocation, under the delivery's id: repeated, it is written once. A server that is killed
 * forgets the ids of those that were run; the source itself remembers them as well (`domain/event/processed-events.ts`).
 */
export async function deliverToSource(
  delivery: Delivery,
  { listener: { pool }, owner }: SourceRoute,
  ports: Pick<DeliveryPorts, "invocations" | "admission" | "log" | "metrics" | "clock">,
): Promise<DeliveredToSource> {
  const { event, listener } = delivery;
  const started = ports.clock.now();
  const hops = nextHop(event.hops ?? 0);
  const leaveOut = (outcome: string, why: string): DeliveredToSource => {
    ports.metrics?.attempted("source", "left_out", 0);
    ports.log.warn({ op: "event.route", outcome, "source.id": event.source, "listener.id": listener }, why);
    return "settled";
  };
  if (hops === undefined) return leaveOut("too_far", "an event that went round in a circle is not delivered");
  // It becomes a part of JSON below: what is none, as only a runner can forge it, could name another source and another trigger there.
  if (!isJson(event.payload)) return leaveOut("no_json", "an event whose payload is no JSON is not delivered");
  const trace = Object.entries(traceContext(event)).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  const way = JSON.stringify(nextWay(event.way ?? [], event.source));
  const invocation = `{"source":${JSON.stringify(listener)},"trigger":"event","at":${event.ts},"delivery":"${knownBy(delivery.id)}","hops":${hops},"way":${way}${trace.join("")},"metadata":${JSON.stringify(eventMetadata(event, event.source))},"event":${event.payload}}`;
  if (!ports.admission.admits({ pool, source: listener, owner }, invocation.length, performance.now())) return "backlog_full";
  await ports.invocations.request(pool, listener, invocation, delivery.id);
  const now = ports.clock.now();
  ports.metrics?.attempted("source", "delivered", now - started);
  ports.metrics?.delivered("source", now - dueSince(delivery, started));
  return "settled";
}

export interface SourceRoute extends Pick<Route, "owner"> {
  readonly listener: Extract<RouteListener, { kind: "source" }>;
}

/** Short, since each commit of a source that listens carries hundreds of them; 72 bits, since two that look the same would lose one. */
function knownBy(delivery: string): string {
  return createHash("sha256").update(delivery).digest("base64url").slice(0, 12);
}
