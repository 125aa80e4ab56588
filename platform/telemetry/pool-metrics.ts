import { Gauge, type Registry } from "prom-client";
import type { Backlogs } from "../../operator/runner-pool/ports.ts";

/** The leading operator reads each backlog every few seconds. An older value is of a deleted pool or a former leader. */
const maxAgeMs = 60_000;

/** Exports the backlogs that are read as a metric: no runner reports the backlog of a pool without runners. @param now epoch ms */
export function measuredBacklogs(registry: Registry, backlogs: Backlogs, now: () => number): Backlogs {
  const seen = new Map<string, { readonly invocations: number; readonly at: number }>();
  void new Gauge({
    name: "headwater_pool_backlog",
    help: "Invocations of a runner pool that are queued or running.",
    labelNames: ["pool"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [pool, { invocations, at }] of seen) {
        if (now() - at > maxAgeMs) seen.delete(pool);
        else this.set({ pool }, invocations);
      }
    },
  });
  return {
    of: async (pool) => {
      const invocations = await backlogs.of(pool);
      if (invocations !== undefined) seen.set(pool, { invocations, at: now() });
      return invocations;
    },
  };
}
