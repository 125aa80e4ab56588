import { isOnPath } from "./programs.ts";
import { printFailures, runTests, tallyLine } from "./vitest.ts";

/**
 * `npm run test:cluster [-- files]`: runs the stories of test/cluster on the cluster of KUBECONFIG, with the image
 * HEADWATER_TEST_IMAGE, which its nodes have or can pull. Use a cluster for tests only: see test/cluster/README.md.
 */
const missing = [
  ...["KUBECONFIG", "HEADWATER_TEST_IMAGE"].filter((name) => (process.env[name] ?? "") === "").map((name) => `the variable ${name}`),
  ...["kubectl", "helm"].filter((program) => !isOnPath(program)).map((program) => `${program} on PATH`),
];

if (missing.length > 0) {
  console.error(`The cluster tests need ${missing.join(", ")}. With docker and kind, \`npm run kind\` brings all but kubectl and helm.`);
  process.exitCode = 2;
} else {
  const tally = await runTests(["--config", "vitest.cluster.config.ts", ...process.argv.slice(2)]);
  printFailures(tally.failures);
  console.log(tallyLine(tally));
  process.exitCode = tally.failed === 0 ? 0 : 1;
}
