import { Counter, Gauge, type Registry } from "prom-client";
import type { SandboxStats } from "../../runner/sandbox/port.ts";

/** @param read called on every scrape */
export function createSandboxMetrics(registry: Registry, pool: string, read: () => SandboxStats): void {
  const registers = [registry];
  const labelNames = ["pool"] as const;
  const gauge = (name: string, help: string, of: (stats: SandboxStats) => number): unknown =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.set({ pool }, of(read()));
      },
    });
  const counter = (name: string, help: string, of: (stats: SandboxStats) => number): unknown =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        this.inc({ pool }, of(read()));
      },
    });
  gauge("headwater_sandbox_isolates", "Warm isolates in this runner.", ({ isolates }) => isolates);
  gauge("headwater_sandbox_sources", "Warm sources in these isolates.", ({ sources }) => sources);
  gauge("headwater_sandbox_children", "Child processes of this runner that hold isolates.", ({ children }) => children);
  gauge("headwater_sandbox_resident_bytes", "Resident memory of the sandbox processes.", ({ residentBytes }) => residentBytes);
  counter("headwater_sandbox_evictions_total", "Warm sources evicted to make room for others.", ({ evictions }) => evictions);
  counter("headwater_sandbox_start_failures_total", "Child processes that could not be started.", ({ startFailures }) => startFailures);
}
