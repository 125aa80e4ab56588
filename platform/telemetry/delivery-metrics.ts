import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { DeliveryMetrics } from "../../delivery/destinations/ports.ts";

export interface DeliveryBacklog {
  /** Commits whose events are not all routed. */
  readonly unrouted: number;
  /** Deliveries whose next attempt is due. */
  readonly due: number;
  /** Deliveries whose next attempt is in the future. */
  readonly scheduled: number;
  /** Deliveries queued for ordered webhooks. */
  readonly ordered: number;
  /** Commits that are not in Postgres. */
  readonly unrecorded: number;
}

/** Bytes stored in a stream, and its limit; -1: no limit. */
export interface StreamBytes {
  readonly stream: string;
  readonly bytes: number;
  readonly maxBytes: number;
}

const attemptSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const lagSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3_600, 86_400];
/** `send`: what `$.send` of workflows asked for. */
const listeners = ["webhook", "source", "workflow", "send"] as const;

/** Both functions ask NATS at each scrape. While NATS does not answer, their metrics are absent. */
export function createDeliveryMetrics(
  registry: Registry,
  look: () => Promise<DeliveryBacklog>,
  lookAtStreams: () => Promise<readonly StreamBytes[]>,
): DeliveryMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: "headwater_delivery_attempts_total",
    help: "Attempts to deliver an event to a listener, by outcome.",
    labelNames: ["listener", "outcome"],
    registers,
  });
  // Zero rather than absent: rate() needs a first value, and a sum with an absent series is absent.
  for (const listener of listeners) for (const outcome of ["delivered", "retry", "dead"]) attempts.inc({ listener, outcome }, 0);
  const duration = new Histogram({
    name: "headwater_delivery_attempt_seconds",
    help: "Time of an attempt.",
    labelNames: ["listener"],
    buckets: attemptSeconds,
    registers,
  });
  const lag = new Histogram({
    name: "headwater_delivery_lag_seconds",
    help: "Time from the commit of an event, or from its delivery_ts, to its delivery.",
    labelNames: ["listener"],
    buckets: lagSeconds,
    registers,
  });
  for (const listener of listeners) lag.zero({ listener });
  backlogGauges(registry, look);
  streamGauges(registry, lookAtStreams);
  return {
    attempted: (listener, outcome, durationMs) => {
      attempts.inc({ listener, outcome });
      duration.observe({ listener }, durationMs / 1_000);
    },
    delivered: (listener, lagMs) => lag.observe({ listener }, Math.max(0, lagMs) / 1_000),
  };
}

function backlogGauges(registry: Registry, look: () => Promise<DeliveryBacklog>): void {
  const waiting: Gauge<"state"> = new Gauge({
    name: "headwater_delivery_backlog",
    help: "Pending work, by state: unrouted commits, due deliveries, deliveries scheduled for a retry, deliveries queued for ordered webhooks, commits not recorded in Postgres.",
    labelNames: ["state"],
    registers: [registry],
    async collect() {
      waiting.reset();
      const backlog = await look().catch(() => undefined);
      if (backlog === undefined) return;
      for (const state of ["unrouted", "due", "scheduled", "ordered", "unrecorded"] as const) waiting.set({ state }, backlog[state]);
    },
  });
}

function streamGauges(registry: Registry, look: () => Promise<readonly StreamBytes[]>): void {
  const gauge = (name: string, help: string, bytesOf: (held: StreamBytes) => number): void => {
    const bytes: Gauge<"stream"> = new Gauge({
      name,
      help,
      labelNames: ["stream"],
      registers: [registry],
      async collect() {
        bytes.reset();
        for (const held of await look().catch(() => [])) if (bytesOf(held) >= 0) bytes.set({ stream: held.stream }, bytesOf(held));
      },
    });
  };
  gauge("headwater_stream_bytes", "Bytes stored in a stream.", ({ bytes }) => bytes);
  gauge("headwater_stream_limit_bytes", "Max bytes of a stream.", ({ maxBytes }) => maxBytes);
}
