import { hash } from "node:crypto";
import type { Clock } from "../../domain/clock.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";
import { nextHop, nextWay } from "../../domain/invocation/hops.ts";
import { isJson } from "../../domain/json.ts";
import type { AdmissionGate } from "../../domain/limits/admission.ts";
import type { Log } from "../../domain/log.ts";
import type { Route } from "../../domain/source/deployment.ts";
import { traceContext } from "../../domain/traces.ts";
import { dueSince, type Delivery } from "../routing/delivery.ts";
import type { InternalOutcome } from "./destination.ts";
import type { DeliveryMetrics, Invocations } from "./ports.ts";

/** A source, or a workflow that is active. */
export interface RunListener {
  readonly kind: "source" | "workflow";
  readonly id: string;
  readonly pool: string;
}

export interface RunRoute extends Pick<Route, "owner"> {
  readonly listener: RunListener;
}

export interface InvocationPorts {
  readonly invocations: Invocations;
  /** Knows which listening sources have a full backlog. */
  readonly admission: Pick<AdmissionGate, "admits">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly metrics?: DeliveryMetrics;
}

const delivered: InternalOutcome = { outcome: "delivered", status: null };
const backlogFull: InternalOutcome = {
  outcome: "backlog_full",
  status: null,
  error: "the backlog of the listener or of its owner is full",
};

/**
 * Stores an event for a listening source or workflow as an invocation, under the delivery's id, so that repetitions are stored once. NATS
 * forgets these ids if it is killed, so the listener recognizes them too: a source by `domain/event/processed-events.ts`, a workflow by the
 * id of the run, which follows from the id of the delivery.
 *
 * Rejects if NATS cannot store it.
 */
export async function deliverAsInvocation(
  delivery: Delivery,
  { owner, listener: { kind, pool } }: RunRoute,
  ports: InvocationPorts,
): Promise<InternalOutcome> {
  const { event, listener } = delivery;
  const started = ports.clock.now();
  const hops = nextHop(event.hops ?? 0);
  const leaveOut = (outcome: string, error: string): InternalOutcome => {
    ports.metrics?.attempted(kind, "left_out", 0);
    const fields = { op: "event.route", outcome, "source.id": event.source, "listener.id": listener };
    ports.log.warn(fields, `an event is not delivered: ${error}`);
    return { outcome: "left_out", status: null, error };
  };
  if (hops === undefined) return leaveOut("too_far", "it has passed through too many sources and workflows");
  // The payload becomes part of the JSON below. Only a runner can forge an invalid one, which could change the source or the trigger.
  if (!isJson(event.payload)) return leaveOut("no_json", "its payload is not JSON");
  const invocation = invocationText(delivery, hops);
  if (!ports.admission.admits({ pool, source: listener, owner }, invocation.length, performance.now())) return backlogFull;
  await ports.invocations.request(pool, listener, invocation, delivery.id);
  countDelivered(kind, delivery, started, ports);
  return delivered;
}

/** Built from parts, because parsing and encoding the payload again would cost more than everything else here. */
function invocationText({ id, listener, event }: Delivery, hops: number): string {
  const trace = Object.entries(traceContext(event)).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  const way = JSON.stringify(nextWay(event.way ?? [], event.source));
  const { invocation = {} } = event;
  const trigger = invocation.resume !== undefined ? "resume" : invocation.control !== undefined ? "control" : "event";
  const more = Object.entries(invocation).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  const of = trigger === "event" ? `,"metadata":${JSON.stringify(eventMetadata(event, event.source))},"event":${event.payload}` : "";
  return `{"source":${JSON.stringify(listener)},"trigger":"${trigger}","at":${event.ts},"delivery":"${shortDeliveryId(id)}","hops":${hops},"way":${way}${trace.join("")}${more.join("")}${of}}`;
}

/** Short, because each commit of a listening source contains hundreds of them. 72 bits, because a collision would lose an event. */
function shortDeliveryId(delivery: string): string {
  return hash("sha256", delivery, "base64url").slice(0, 12);
}

export function countDelivered(
  kind: RunListener["kind"],
  delivery: Delivery,
  started: number,
  { metrics, clock }: Pick<InvocationPorts, "metrics" | "clock">,
): void {
  const now = clock.now();
  metrics?.attempted(kind, "delivered", now - started);
  metrics?.delivered(kind, now - dueSince(delivery, started));
}
