import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ControllerMetrics } from "../../operator/controller/metrics.ts";

export interface OperatorMetrics {
  /** The metrics of one controller. Only those of the leader change. */
  controller(name: string): ControllerMetrics;
  leads(leads: boolean): void;
}

const buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 60, 300];
const byController = ["controller"] as const;

export function createOperatorMetrics(registry: Registry): OperatorMetrics {
  const registers = [registry];
  const names = { labelNames: byController, registers };
  const depth = new Gauge({ name: "headwater_controller_queue_depth", help: "Resources queued to be reconciled.", ...names });
  const added = new Counter({ name: "headwater_controller_queue_adds_total", help: "Resources put into the queue.", ...names });
  const retries = new Counter({
    name: "headwater_controller_queue_retries_total",
    help: "Resources queued again after a failed pass.",
    ...names,
  });
  const waited = new Histogram({
    name: "headwater_controller_queue_seconds",
    help: "Time a resource waited in the queue.",
    buckets,
    ...names,
  });
  const seconds = new Histogram({
    name: "headwater_controller_reconcile_seconds",
    help: "Time of a pass over a resource.",
    buckets,
    ...names,
  });
  const passes = new Counter({
    name: "headwater_controller_reconcile_total",
    help: "Passes over resources, by result.",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = new Counter({
    name: "headwater_controller_reconcile_errors_total",
    help: "Passes that failed, without conflicts.",
    ...names,
  });
  const leader = new Gauge({ name: "headwater_controller_leader", help: "1 while this operator is the leader.", registers });
  return {
    controller: (controller) => {
      for (const metric of [depth, added, retries, errors]) metric.labels({ controller }); // Zero rather than absent: rate() needs a first value.
      return {
        queue: {
          added: () => added.inc({ controller }),
          waited: (time) => waited.observe({ controller }, time),
          retried: () => retries.inc({ controller }),
          depth: (keys) => depth.set({ controller }, keys),
        },
        reconciled: (result, time) => {
          passes.inc({ controller, result });
          seconds.observe({ controller }, time);
          if (result === "error") errors.inc({ controller });
        },
      };
    },
    leads: (leads) => leader.set(leads ? 1 : 0),
  };
}
