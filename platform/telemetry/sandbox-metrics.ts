import { Counter, Gauge, type Registry } from "prom-client";
import type { SandboxStats } from "../../runner/sandbox/port.ts";

/** `look` is called whenever somebody asks for metrics. */
export function createSandboxMetrics(registry: Registry, pool: string, look: () => SandboxStats): void {
  const registers = [registry];
  const labelNames = ["pool"] as const;
  const gauge = (name: string, help: string, of: (stats: SandboxStats) => number): unknown =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.set({ pool }, of(look()));
      },
    });
  gauge("headwater_sandbox_isolates", "Isolates that are warm in this runner.", ({ isolates }) => isolates);
  gauge("headwater_sandbox_children", "Processes of this runner that hold isolates.", ({ children }) => children);
  gauge("headwater_sandbox_resident_bytes", "Memory of those processes.", ({ residentBytes }) => residentBytes);
  void new Counter({
    name: "headwater_sandbox_evictions_total",
    help: "Warm isolates that were ended to make room for others.",
    labelNames,
    registers,
    collect() {
      this.reset();
      this.inc({ pool }, look().evictions);
    },
  });
}
