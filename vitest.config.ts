import { defineConfig } from "vitest/config";
import { givenOrder, GivenOrder } from "./scripts/vitest-sequencer.ts";

/** Files that need neither servers nor isolates. */
const pure = [
  "architecture.test.ts",
  "bench",
  "crds",
  "delivery",
  "docs",
  "domain",
  "ingress",
  "operator",
  "runner",
  "simulation",
  "types",
];
/** Files that compute: isolates, npm packages, the components of registry/. */
const isolates = ["registry", "sandbox"];
/** Files that mostly wait for the servers and processes that they start. */
const servers = ["charts", "console", "cli", "e2e", "integration", "platform", "scripts", "support", "upgrade"];

const filesOf = (entries: readonly string[]): string[] =>
  entries.map((entry) => (entry.endsWith(".ts") ? `test/${entry}` : `test/${entry}/**/*.test.ts`));

const fullFiles = "test/**/*.full.test.ts";
const soakFiles = "test/**/*.soak.test.ts";
/** Files that run a sample of their cases in `npm test` and all of them in `npm run test:soak` (test/support/soak.ts). */
const sampled = [
  "test/integration/backlog.test.ts",
  "test/integration/operator/{connections,kill,kill-kinds.full,update-failures,workflow-kill.full}.test.ts",
];
const soak = {
  include: [soakFiles, ...sampled],
  env: { HEADWATER_TEST_SOAK: "1" },
  // These tests run a load for minutes.
  testTimeout: 900_000,
  hookTimeout: 900_000,
};
const exclude = [fullFiles, soakFiles];

/** Processes of a project. Files whose order is given share one. */
const workers = (count: number): number => (givenOrder === undefined ? count : 1);
const order = givenOrder === undefined ? {} : { sequencer: GivenOrder };

/**
 * `npm test` runs `pure`, `isolates` and `servers`, `npm run test:all` these and `full`, `npm run test:soak` only `soak`. The stories of test/cluster have a configuration of
 * their own, vitest.cluster.config.ts. Files of a worker share the modules that they import: loading them again for each file
 * would take more time than the tests of `pure`.
 */
export default defineConfig({
  test: {
    pool: "forks",
    // isolated-vm does not run in a Node that was started from a snapshot.
    execArgv: ["--no-node-snapshot"],
    // The only limits: they end a test that hangs. A slow machine must not reach them, so tests set none of their own.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    setupFiles: ["test/support/file-meta.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: "pure", include: filesOf(pure), exclude, maxWorkers: workers(2), sequence: { groupOrder: 1, ...order } },
      },
      {
        extends: true,
        test: { name: "isolates", include: filesOf(isolates), exclude, maxWorkers: workers(2), sequence: { groupOrder: 1, ...order } },
      },
      {
        extends: true,
        test: { name: "servers", include: filesOf(servers), exclude, maxWorkers: workers(4), sequence: { groupOrder: 2, ...order } },
      },
      {
        extends: true,
        test: { name: "full", include: [fullFiles], exclude: [soakFiles], maxWorkers: workers(3), sequence: { groupOrder: 3, ...order } },
      },
      { extends: true, test: { name: "soak", ...soak, isolate: true, maxWorkers: workers(2), sequence: { groupOrder: 4, ...order } } },
    ],
  },
});
