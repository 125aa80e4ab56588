import { unsupportedFunction } from "../errors.ts";
import { guest } from "../globals.ts";

class PerformanceObserver {
  static readonly supportedEntryTypes: readonly string[] = [];
  observe(): void {}
  disconnect(): void {}
  takeRecords(): unknown[] {
    return [];
  }
}

/** `node:perf_hooks`: the clock only; observers receive nothing. */
export default {
  performance: guest.performance,
  PerformanceObserver,
  constants: {},
  createHistogram: unsupportedFunction("perf_hooks", "createHistogram", "keep the numbers in an array"),
  monitorEventLoopDelay: (): object => ({
    enable: () => true,
    disable: () => true,
    reset: () => {},
    min: 0,
    max: 0,
    mean: 0,
    stddev: 0,
    percentile: () => 0,
  }),
  eventLoopUtilization: (): object => ({ idle: 0, active: 0, utilization: 0 }),
};
