import { Histogram, type Registry } from "prom-client";
import type { Answered } from "../../ingress/ports.ts";

/** @returns a function to call with each answered request */
export function createIngressMetrics(registry: Registry): (answered: Answered) => void {
  const duration = new Histogram({
    name: "headwater_endpoint_request_duration_seconds",
    help: "Time from the head of a request to a source's endpoint to the end of its response.",
    labelNames: ["status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  duration.zero({ status: "200" }); // Zero rather than absent: rate() needs a first value.
  return ({ status, durationMs }) => duration.observe({ status: String(status) }, durationMs / 1_000);
}
