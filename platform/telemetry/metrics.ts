import { collectDefaultMetrics, Registry } from "prom-client";

let registry: Registry | undefined;

/** Where all roles of this process register their metrics; it has those of the process itself. */
export function processMetrics(): Registry {
  if (registry !== undefined) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
