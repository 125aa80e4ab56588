import type { Figure } from "../figure.ts";
import { openClusterInstallation, pause, type ClusterInstallation } from "../harness/cluster-installation.ts";
import { describeTimes, percentile } from "../harness/measure/statistics.ts";

/**
 * On an installation in a cluster: from a server-side apply of a Source, whose component is built, to the first 200 of its endpoint, one
 * after the other.
 */
const samples = 40;
const component = "bench";
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run() {} };`;

export async function run(): Promise<readonly Figure[]> {
  await using installation = await openClusterInstallation();
  await installation.apply("Component", "components", component, { code });
  await installation.untilReady("components", component);
  await deploy(installation, `${component}-warm`);
  const times: number[] = [];
  for (let n = 0; n < samples; n++) times.push(await deploy(installation, `${component}-${n}`));
  return [
    {
      name: "kubectl apply of a Source (component built) to an answering endpoint, p95",
      value: percentile(times, 0.95),
      unit: "ms",
      goal: { of: "value", atMost: 1_500 },
      note: `${samples} one after the other; ${describeTimes(times)}`,
    },
  ];
}

/** ms. */
async function deploy(installation: ClusterInstallation, name: string): Promise<number> {
  const startedAt = performance.now();
  await installation.apply("Source", "sources", name, { componentRef: { name: component } });
  for (let key: string | undefined; ;) {
    key ??= (await installation.statusOf("sources", name))?.endpointKey;
    if (key !== undefined && (await installation.post(key)) === 200) return performance.now() - startedAt;
    if (performance.now() - startedAt > 30_000) throw new Error(`${name} does not answer within 30 s`);
    await pause(10);
  }
}
