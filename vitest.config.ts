import { defineConfig } from "vitest/config";

/** Layers, slowest last; `scripts/test.ts` picks among them. isolated-vm needs forks and no node snapshot. */
export default defineConfig({
  test: {
    pool: "forks",
    execArgv: ["--no-node-snapshot"],
    include: ["test/**/*.test.ts"],
    // Those have a configuration of their own: vitest.cluster.config.ts.
    exclude: ["test/cluster/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    globalSetup: ["test/support/global-setup.ts"],
  },
});
