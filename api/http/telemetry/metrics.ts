import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

export interface HttpMetrics {
  observe(request: { readonly method: string; readonly route: string; readonly status: number }, seconds: number): void;
  readonly contentType: string;
  text(): Promise<string>;
}

/** Known methods. Others share one label value, because clients can invent methods. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/** @param registry shared with other roles of this process; by default, a new one with the metrics of the process */
export function createHttpMetrics(registry: Registry = processRegistry()): HttpMetrics {
  const duration = new Histogram({
    name: "headwater_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  });
  return {
    observe: ({ method, route, status }, seconds) =>
      duration.observe({ method: methods.has(method) ? method : "other", route, status: String(status) }, seconds),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
