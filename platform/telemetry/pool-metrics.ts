import { Gauge, type Registry } from "prom-client";
import type { Backlogs } from "../../operator/runner-pool/ports.ts";

/** The operator that leads looks at a pool every few seconds: what is older is of a pool that is gone, or of another's time. */
const oldestMs = 60_000;

/** The backlogs, told as a metric as well: that of a pool without any runner shows nowhere else. @param now epoch ms */
export function measuredBacklogs(registry: Registry, backlogs: Backlogs, now: () => number): Backlogs {
  const seen = new Map<string, { readonly invocations: number; readonly at: number }>();
  void new Gauge({
    name: "headwater_pool_backlog",
    help: "Invocations of a runner pool that wait or are under way.",
    labelNames: ["pool"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [pool, { invocations, at }] of seen) {
        if (now() - at > oldestMs) seen.delete(pool);
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
