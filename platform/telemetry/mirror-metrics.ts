import { Gauge, type Registry } from "prom-client";

export interface MirrorState {
  readonly lagSeconds: number;
  readonly pending: number;
}

/** Reads `mirror` on every scrape. */
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
    "Age of the oldest change of the cluster that the API's lists do not show yet.",
    () => mirror.lagSeconds,
  );
  gauge("headwater_mirror_pending", "Resources whose latest state the API's lists do not show yet.", () => mirror.pending);
}
