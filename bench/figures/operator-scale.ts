import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "../../platform/process/nats/nats-server.ts";
import { formatNatsUrl } from "../../platform/process/nats/nats-connection.ts";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { KubeApiClient, kubeconfigOf } from "../../test/support/kube/kube-api-client.ts";
import { startKubeApiServer } from "../../test/support/kube/kube-api-server.ts";
import { findKubeAssets } from "../../test/support/kube/kube-assets.ts";
import { installCrds } from "../../test/support/kube/kube-crds.ts";
import type { Figure } from "../figure.ts";
import { createSources, namespace, settledSources, timeChanges } from "../harness/load/kube-sources.ts";
import { runToEnd, startOperator, type OperatorProcess } from "../harness/operator-process.ts";
import { percentile } from "../harness/measure/statistics.ts";

/**
 * One operator process over a real kube-apiserver with etcd, NATS and Postgres, and 10,000 Sources of one built component, each
 * with a timer. Everything runs on this machine and shares its cores; nothing else of Headwater runs.
 */
const sources = Number(process.env["BENCH_SOURCES"] ?? 10_000);
const changes = 100;
const restMs = Number(process.env["BENCH_REST_MS"] ?? 60_000);

export async function run(): Promise<readonly Figure[]> {
  const assets = findKubeAssets();
  if (assets === undefined) throw new Error("kube-apiserver and etcd were not found: name their folder in KUBEBUILDER_ASSETS");
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  const [kube, nats, postgres] = await Promise.all([
    startKubeApiServer(assets),
    startNats({ dataDirectory: join(directory, "nats"), syncInterval: "always" }),
    startPostgres({ dataDirectory: join(directory, "postgres") }),
  ]);
  const client = new KubeApiClient(kube.access);
  const kubeconfig = join(directory, "kubeconfig");
  await mkdir(join(directory, "keys"), { mode: 0o700 });
  await writeFile(kubeconfig, kubeconfigOf(kube.access), { mode: 0o600 });
  const env = {
    HEADWATER_RESOURCES: "kubernetes",
    // As in a pod of the chart, whose memory limit bounds the heap too: without a bound it grows before garbage is looked for.
    NODE_OPTIONS: "--max-semi-space-size=4 --max-old-space-size=384",
    HEADWATER_DATA: directory,
    HEADWATER_KEYS: join(directory, "keys"),
    KUBECONFIG: kubeconfig,
    NATS_URL: formatNatsUrl(nats.connection),
    DATABASE_URL: postgres.url,
  };
  const running: OperatorProcess[] = [];
  const start = async (): Promise<OperatorProcess> => {
    const operator = await startOperator(env);
    running.push(operator);
    return operator;
  };
  try {
    await installCrds(client);
    await runToEnd({ ...env, HEADWATER_ROLES: "setup" });
    process.stderr.write(`creating ${sources} sources …\n`);
    await createSources(client, sources);
    return await measure(client, start);
  } finally {
    for (const operator of running) await operator.stop();
    await client.close();
    await Promise.all([kube.stop(), nats.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(client: KubeApiClient, start: () => Promise<OperatorProcess>): Promise<readonly Figure[]> {
  const first = await start();
  const firstMs = await first.untilIdle(sources);
  const firstBytes = first.memory();
  await expectAllSettled(client);
  await first.stop();
  const second = await start();
  const againMs = await second.untilIdle(sources);
  const bytes = second.memory();
  await expectAllSettled(client);
  const before = await writesOf(client);
  await new Promise((resolve) => setTimeout(resolve, restMs));
  const after = await writesOf(client);
  const written = [...after]
    .map(([resource, count]) => [resource, count - (before.get(resource) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  const others = written.filter(([resource]) => resource !== "leases").reduce((sum, [, count]) => sum + count, 0);
  const times = await timeChanges(client, sources, changes);
  const rest = second.memory();
  const mebibytes = (value: number): string => `${Math.round(value / 2 ** 20)} MB`;
  return [
    {
      name: `${sources} sources: start of the operator until all are deployed for the first time`,
      value: firstMs / 1_000,
      unit: "s",
      goal: { of: "value", atMost: 90 },
      note: `resident ${mebibytes(firstBytes.now)}, at most ${mebibytes(firstBytes.most)}`,
    },
    {
      name: `${sources} sources: start of the operator until all are observed`,
      value: againMs / 1_000,
      unit: "s",
      goal: { of: "value", atMost: 90 },
      note: "all are settled; from the start of the process, which takes over a released lease",
    },
    {
      name: `${sources} sources: memory of the operator`,
      value: bytes.most / 2 ** 20,
      unit: "MB",
      goal: { of: "value", atMost: 350 },
      note: `largest resident set of a start with all settled; at rest ${mebibytes(rest.now)}`,
    },
    {
      name: `${sources} sources: writes at rest other than the Lease's, per minute`,
      value: others / (restMs / 60_000),
      unit: "writes",
      goal: { of: "value", atMost: 0 },
      note: written.map(([resource, count]) => `${resource} ${count}`).join(", "),
    },
    {
      name: `one spec change among ${sources} sources until its status is observed, p95`,
      value: percentile(times, 0.95),
      unit: "ms",
      goal: { of: "value", atMost: 500 },
      note: `${changes} changes one after the other; p50 ${percentile(times, 0.5).toFixed(0)} ms, most ${percentile(times, 1).toFixed(0)} ms`,
    },
  ];
}

async function expectAllSettled(client: KubeApiClient): Promise<void> {
  const { settled, example } = await settledSources(client);
  if (settled !== sources) throw new Error(`${settled} of ${sources} sources in ${namespace} are settled; one that is not: ${example}`);
}

/** Requests that wrote something, by resource, from the API server's own account. */
async function writesOf(client: KubeApiClient): Promise<ReadonlyMap<string, number>> {
  const { body } = await client.request("GET", "/metrics");
  const counts = new Map<string, number>();
  for (const line of String(body).split("\n")) {
    const [, names = "", value] = /^apiserver_request_total\{(.*)\} ([\d.e+]+)$/.exec(line) ?? [];
    if (!/verb="(POST|PUT|PATCH|DELETE|APPLY)"/.test(names)) continue;
    const resource = /resource="([^"]*)"/.exec(names)?.[1] ?? "";
    if (/group="(headwater.dev|coordination.k8s.io|events.k8s.io)"/.test(names))
      counts.set(resource, (counts.get(resource) ?? 0) + Number(value));
  }
  return counts;
}
