import { AggregatorRegistry, collectDefaultMetrics, Registry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** What a registry reports, as it travels between processes. */
export type ReportedMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The metrics of this process and of the roles that it runs in child processes, added up. */
class ProcessRegistry extends Registry {
  #children: () => Promise<readonly ReportedMetrics[]> = () => Promise.resolve([]);

  addChildren(children: () => Promise<readonly ReportedMetrics[]>): void {
    this.#children = children;
  }

  override async metrics(): Promise<string> {
    const children = await this.#children();
    if (children.length === 0) return super.metrics();
    // The types promise names only; this is how the library's own cluster support calls it.
    return AggregatorRegistry.aggregate([await this.getMetricsAsJSON(), ...children] as unknown as object[]).metrics();
  }
}

/** Milliseconds between two looks at the event loop. The library's default, 10, wakes every process 100 times a second: 0.5 % of a core each at rest. */
const eventLoopMonitoringPrecision = 100;

let registry: ProcessRegistry | undefined;

/** Where all roles of this process register their metrics; it has those of the process itself. */
export function processMetrics(): ProcessRegistry {
  if (registry !== undefined) return registry;
  registry = new ProcessRegistry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  return registry;
}
