import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What comes first changes least; `uninstall` removes the installation, and those behind it install another one. */
const order = [
  "outcome",
  "documentation",
  "walls",
  "upgrade",
  "previous-version",
  "faults",
  "outage",
  "uninstall",
  "restore",
  "move",
  "tls",
  "node-loss",
];

class InOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => order.findIndex((name) => moduleId.includes(`/${name}.test.ts`));
    return Promise.resolve(files.toSorted((a, b) => place(a) - place(b)));
  }
}

/** Tests on the cluster that KUBECONFIG names: `scripts/test-cluster.ts` runs them. */
export default defineConfig({
  test: {
    include: ["test/cluster/**/*.test.ts"],
    globalSetup: ["test/cluster/global-setup.ts"],
    fileParallelism: false,
    sequence: { sequencer: InOrder },
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
