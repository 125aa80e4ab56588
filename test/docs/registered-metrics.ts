import { collectDefaultMetrics, Registry } from "prom-client";
import { z } from "zod";
import { createHttpMetrics } from "../../api/http/telemetry/metrics.ts";
import { createOperatorMetrics } from "../../platform/telemetry/controller-metrics.ts";
import { createDeliveryMetrics } from "../../platform/telemetry/delivery-metrics.ts";
import { createIngressMetrics } from "../../platform/telemetry/ingress-metrics.ts";
import { createMailMetrics } from "../../platform/telemetry/mail-metrics.ts";
import { createMirrorMetrics } from "../../platform/telemetry/mirror-metrics.ts";
import { measuredBacklogs } from "../../platform/telemetry/pool-metrics.ts";
import { createRunMetrics } from "../../platform/telemetry/run-metrics.ts";
import { createSandboxMetrics } from "../../platform/telemetry/sandbox-metrics.ts";

export interface RegisteredMetric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly labels: readonly string[];
  /** Of a histogram: its upper bounds. */
  readonly buckets: readonly number[];
}

/** What prom-client keeps of a metric; its types omit the labels. */
const metric = z.object({ name: z.string(), labelNames: z.array(z.string()), upperBounds: z.array(z.number()).default([]) });
const metricType = z.enum(["counter", "gauge", "histogram", "summary"]);

/** Every metric that a process of some role registers, as its registry has it; `operations-docs.test.ts` sees to it that none is left out. */
export async function registeredMetrics(): Promise<readonly RegisteredMetric[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  createHttpMetrics(registry);
  createIngressMetrics(registry);
  createOperatorMetrics(registry);
  createMirrorMetrics(registry, { lagSeconds: 0, pending: 0 });
  measuredBacklogs(registry, { of: async () => undefined }, () => 0);
  createRunMetrics(registry, "default");
  createSandboxMetrics(registry, "default", () => ({
    children: 0,
    isolates: 0,
    sources: 0,
    residentBytes: 0,
    evictions: 0,
    startFailure: undefined,
    startFailures: 0,
  }));
  const backlog = { unrouted: 0, due: 0, scheduled: 0, ordered: 0, unrecorded: 0 };
  createDeliveryMetrics(
    registry,
    async () => backlog,
    async () => [],
  );
  createMailMetrics(registry);
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]));
  return registry.getMetricsAsArray().map((each) => {
    const { name, labelNames, upperBounds } = metric.parse(each);
    return { name, type: metricType.parse(types.get(name)), labels: labelNames, buckets: upperBounds };
  });
}
