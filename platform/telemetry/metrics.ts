import { AggregatorRegistry, collectDefaultMetrics, Registry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** The metrics of a registry, as a message between processes. */
export type ReportedMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The sum of the metrics of this process and of its child processes. */
class ProcessRegistry extends Registry {
  #children: () => Promise<readonly ReportedMetrics[]> = () => Promise.resolve([]);

  addChildren(children: () => Promise<readonly ReportedMetrics[]>): void {
    this.#children = children;
  }

  override async metrics(): Promise<string> {
    const children = await this.#children();
    if (children.length === 0) return super.metrics();
    // The declared type is wrong: the library's own cluster support passes objects too.
    return AggregatorRegistry.aggregate([await this.getMetricsAsJSON(), ...children] as unknown as object[]).metrics();
  }
}

/** Milliseconds between samples of the event loop. The library's default, 10, costs each idle process 0.5 % of a core. */
const eventLoopMonitoringPrecision = 100;

let registry: ProcessRegistry | undefined;

/** The registry of this process, shared by its roles. It includes the process's own metrics. */
export function processMetrics(): ProcessRegistry {
  if (registry !== undefined) return registry;
  registry = new ProcessRegistry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  return registry;
}
