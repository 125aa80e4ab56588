import { Gauge, type Registry } from "prom-client";

export interface MirrorState {
  readonly lagSeconds: number;
  readonly pending: number;
}

/** `mirror` is looked at whenever somebody asks for metrics. */
export function createMirrorMetrics(registry: Registry, mirror: MirrorState): void {
  const gauge = (name: string, help: string, read: () => number): unknown =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge(
    "headwater_mirror_lag_seconds",
    "How far lists of the API are behind what this operator was told of the cluster.",
    () => mirror.lagSeconds,
  );
  gauge("headwater_mirror_pending", "Resources whose last state is not in the lists of the API yet.", () => mirror.pending);
}
