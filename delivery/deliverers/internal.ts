import { hash } from "node:crypto";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { nextHop, nextWay } from "../../domain/invocation/hops.ts";
import { isJson } from "../../domain/json.ts";
import type { Route, RouteListener } from "../../domain/source/deployment.ts";
import { traceContext } from "../../domain/traces.ts";
import type { DeliveryPorts } from "../ports.ts";
import { dueSince, encodeDelivery, type Delivery } from "../routing/delivery.ts";

export interface SourceRoute extends Pick<Route, "owner"> {
  readonly listener: Extract<RouteListener, { kind: "source" }>;
}

type SourcePorts = Pick<DeliveryPorts, "invocations" | "admission" | "log" | "metrics" | "clock">;

/**
 * Stores an event for a listening source as an invocation, under the delivery's id, so that repetitions are stored once. NATS forgets
 * these ids if it is killed, so the source remembers them too (`domain/event/processed-events.ts`).
 *
 * @returns `backlog_full` if the source or its owner has a full backlog: deliver it later, without counting an attempt
 */
export async function deliverToSource(delivery: Delivery, route: SourceRoute, ports: SourcePorts): Promise<"settled" | "backlog_full"> {
  const { event, listener: source } = delivery;
  const started = ports.clock.now();
  const hops = nextHop(event.hops ?? 0);
  const leaveOut = (outcome: string, message: string): "settled" => {
    ports.metrics?.attempted("source", "left_out", 0);
    ports.log.warn({ op: "event.route", outcome, "source.id": event.source, "listener.id": source }, message);
    return "settled";
  };
  if (hops === undefined) return leaveOut("too_far", "an event is not delivered: it has passed through too many sources");
  // The payload becomes part of the JSON below. Only a runner can forge an invalid one, which could change the source or the trigger.
  if (!isJson(event.payload)) return leaveOut("no_json", "an event is not delivered: its payload is not JSON");
  const invocation = invocationText(delivery, hops);
  const { listener, owner } = route;
  if (!ports.admission.admits({ pool: listener.pool, source, owner }, invocation.length, performance.now())) return "backlog_full";
  await ports.invocations.request(listener.pool, source, invocation, delivery.id);
  countDelivered("source", delivery, started, ports);
  return "settled";
}

/** Stores an event for a workflow in the workflow's queue, under the delivery's id, so that repetitions are stored once. */
export async function deliverToWorkflow(delivery: Delivery, ports: Pick<DeliveryPorts, "workflows" | "metrics" | "clock">): Promise<void> {
  const started = ports.clock.now();
  await ports.workflows.store(delivery.listener, encodeDelivery(delivery), delivery.id);
  countDelivered("workflow", delivery, started, ports);
}

/** Built from parts, because parsing and encoding the payload again would cost more than everything else here. */
function invocationText({ id, listener, event }: Delivery, hops: number): string {
  const trace = Object.entries(traceContext(event)).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  const way = JSON.stringify(nextWay(event.way ?? [], event.source));
  const metadata = JSON.stringify(eventMetadata(event, event.source));
  return `{"source":${JSON.stringify(listener)},"trigger":"event","at":${event.ts},"delivery":"${shortDeliveryId(id)}","hops":${hops},"way":${way}${trace.join("")},"metadata":${metadata},"event":${event.payload}}`;
}

/** Short, because each commit of a listening source contains hundreds of them. 72 bits, because a collision would lose an event. */
function shortDeliveryId(delivery: string): string {
  return hash("sha256", delivery, "base64url").slice(0, 12);
}

function countDelivered(
  kind: "source" | "workflow",
  delivery: Delivery,
  started: number,
  { metrics, clock }: Pick<DeliveryPorts, "metrics" | "clock">,
): void {
  const now = clock.now();
  metrics?.attempted(kind, "delivered", now - started);
  metrics?.delivered(kind, now - dueSince(delivery, started));
}
