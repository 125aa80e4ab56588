import { text } from "node:stream/consumers";
import { z } from "zod";
import { pathOf, type Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import type { Figure } from "../figure.ts";
import { openClusterInstallation, pause, type ClusterInstallation } from "../harness/cluster-installation.ts";
import { describeTimes, median, percentile } from "../harness/measure/statistics.ts";

/**
 * The default pool of an installation in a cluster. Its spec is changed for the measurement, and restored. Each runner has a fraction of a
 * core, so that four of them are as busy as one on a machine with few cores.
 */
const cpuOfRunner = "50m";
const [sources, rounds, callers, wakes] = [64, 2, 128, 20] as const;
/** Isolates are created, a backlog arises, and the kubelet has measured the CPU under load. */
const warmUpMs = 20_000;
const durationMs = 30_000;
const busyCode = `export default { name: "Busy", props: { http: "$.interface.http" }, run(event) { this.$emit({ id: event.body.id }); } };`;
const answeringCode = `export default { name: "Answering", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ status: 200, body: "" }); } };`;
const poolPath = pathOf(["apis", "headwater.dev", "v1alpha1", "runnerpools", "default"]);
const withinMs = 180_000;

export async function run(): Promise<readonly Figure[]> {
  await using installation = await openClusterInstallation();
  await using pool = await changeablePool(installation.kubernetes);
  const waking = await wakeFromZero(installation, pool);
  return [waking, await spread(installation, pool)];
}

/** From a request to its response by the runner that it starts. */
async function wakeFromZero(installation: ClusterInstallation, pool: Pool): Promise<Figure> {
  const [key] = await deploy(installation, "answering", answeringCode, 1);
  const times: number[] = [];
  for (let n = 0; n < wakes; n++) {
    await pool.set({ minReplicas: 0, replicas: 0 });
    await pool.untilPods(0);
    await pool.set({ minReplicas: 0 });
    const startedAt = performance.now();
    const status = await installation.post(key ?? "");
    if (status !== 200) throw new Error(`the source answers ${status}`);
    times.push(performance.now() - startedAt);
  }
  return {
    name: "request to a source of a pool without pods, to the response of its run, p95",
    value: percentile(times, 0.95),
    unit: "ms",
    goal: { of: "value", atMost: 5_000 },
    note: `${wakes} one after the other; ${describeTimes(times)}`,
  };
}

/** Runs per CPU-second of the runners, in rounds that alternate. */
async function spread(installation: ClusterInstallation, pool: Pool): Promise<Figure> {
  const keys = await deploy(installation, "busy", busyCode, sources);
  const rates = { one: new Array<number>(), four: new Array<number>() };
  const seen: string[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [rate, replicas] of [
      [rates.one, 1],
      [rates.four, 4],
    ] as const) {
      await pool.set({ replicas, resources: { limits: { cpu: cpuOfRunner } } });
      await pool.untilPods(replicas);
      const { runsPerSecond, cores } = await underLoad(installation, pool, keys);
      rate.push(runsPerSecond / cores);
      seen.push(`${replicas}: ${runsPerSecond.toFixed(0)}/s on ${cores.toFixed(2)} cores`);
    }
  return {
    name: "runs per CPU-second of four runner pods",
    value: median(rates.four),
    unit: "runs",
    baseline: median(rates.one),
    goal: { of: "ratio", atLeast: 0.85 },
    note: `baseline: one pod; limit ${cpuOfRunner} for each, ${sources} busy sources, ${durationMs / 1_000} s each; ${seen.join(", ")}`,
  };
}

interface Sample {
  readonly runs: number;
  /** Epoch ms. */
  readonly readAt: number;
  readonly cpuSeconds: number;
  /** Epoch ms. */
  readonly measuredAt: number;
}

/** Of all pods together. */
interface Rates {
  readonly runsPerSecond: number;
  readonly cores: number;
}

async function underLoad(installation: ClusterInstallation, pool: Pool, keys: readonly string[]): Promise<Rates> {
  let isOver = false;
  let next = 0;
  const call = async (): Promise<void> => {
    while (!isOver) await installation.post(keys[next++ % keys.length] ?? "");
  };
  const calls = Array.from({ length: callers }, call);
  await pause(warmUpMs);
  const before = await pool.samples();
  await pause(durationMs);
  const after = await pool.samples();
  isOver = true;
  await Promise.all(calls);
  const rates = after.map((last, n) => ratesBetween(before[n] ?? last, last));
  return rates.reduce((sum, { runsPerSecond, cores }) => ({ runsPerSecond: sum.runsPerSecond + runsPerSecond, cores: sum.cores + cores }));
}

const ratesBetween = (first: Sample, last: Sample): Rates => ({
  runsPerSecond: ((last.runs - first.runs) / (last.readAt - first.readAt)) * 1_000,
  cores: ((last.cpuSeconds - first.cpuSeconds) / (last.measuredAt - first.measuredAt)) * 1_000,
});

/** @returns the keys of the endpoints of `count` sources that are ready */
async function deploy(installation: ClusterInstallation, name: string, code: string, count: number): Promise<readonly string[]> {
  await installation.apply("Component", "components", name, { code });
  await installation.untilReady("components", name);
  const names = Array.from({ length: count }, (_, n) => `${name}-${n}`);
  for (const each of names) await installation.apply("Source", "sources", each, { componentRef: { name } });
  const keys: string[] = [];
  for (const each of names) {
    await installation.untilReady("sources", each);
    keys.push((await installation.statusOf("sources", each))?.endpointKey ?? "");
  }
  return keys;
}

interface Pool extends AsyncDisposable {
  /** Replaces the spec. */
  set(spec: object): Promise<void>;
  /** Resolves when the pool has that many ready pods of its current spec, and no others. */
  untilPods(count: number): Promise<void>;
  /** Of each pod, in a fixed order. */
  samples(): Promise<readonly Sample[]>;
}

const pod = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.object({ nodeName: z.string().default("") }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) }),
});
type Pod = z.infer<typeof pod>;
const podList = z.object({ items: z.array(pod) });
const observed = z.object({
  metadata: z.object({ generation: z.number() }),
  status: z.object({ observedGeneration: z.number().default(0) }),
});
const deploymentPath = pathOf(["apis", "apps", "v1", "namespaces", "headwater", "deployments", "headwater-runner-default"]);
const podsPath = (...more: readonly string[]): string => pathOf(["api", "v1", "namespaces", "headwater", "pods", ...more]);

async function changeablePool(kubernetes: Kubernetes): Promise<Pool> {
  const original = z.object({ spec: z.looseObject({}) }).parse(await kubernetes.request({ method: "GET", path: poolPath })).spec;
  const put = async (spec: object): Promise<void> => {
    const pool = z.looseObject({}).parse(await kubernetes.request({ method: "GET", path: poolPath }));
    await kubernetes.request({ method: "PUT", path: poolPath, query: { fieldManager: "bench" }, body: { ...pool, spec } });
  };
  const pods = async () =>
    podList.parse(
      await kubernetes.request({ method: "GET", path: podsPath(), query: { labelSelector: "app.kubernetes.io/component=runner" } }),
    ).items;
  const isObserved = async (path: string): Promise<boolean> => {
    const { metadata, status } = observed.parse(await kubernetes.request({ method: "GET", path }));
    return metadata.generation === status.observedGeneration;
  };
  const isSettled = async (count: number): Promise<boolean> => {
    if (!(await isObserved(poolPath)) || !(await isObserved(deploymentPath))) return false;
    const found = await pods();
    const isReady = found.every((each) => each.status.conditions.some(({ type, status: holds }) => type === "Ready" && holds === "True"));
    const revisions = new Set(found.map(({ metadata: { labels } }) => labels["pod-template-hash"]));
    return found.length === count && isReady && revisions.size <= 1;
  };
  return {
    set: (spec) => put({ ...original, ...spec }),
    untilPods: async (count) => {
      const deadline = performance.now() + withinMs;
      while (!(await isSettled(count))) {
        if (performance.now() > deadline) throw new Error(`the pool has not ${count} ready pods within ${withinMs / 1_000} s`);
        await pause(200);
      }
    },
    samples: async () => Promise.all((await pods()).map((pod) => sampleOf(kubernetes, pod))),
    [Symbol.asyncDispose]: () => put(original),
  };
}

/** Runs from the metrics of a pod, and CPU from those of its kubelet, which are up to 15 s old and say so. */
async function sampleOf(kubernetes: Kubernetes, { metadata: { name }, spec: { nodeName } }: Pod): Promise<Sample> {
  const metrics = await textOf(kubernetes, podsPath(`${name}:8081`, "proxy", "metrics"));
  const readAt = Date.now();
  const resources = await textOf(kubernetes, pathOf(["api", "v1", "nodes", nodeName, "proxy", "metrics", "resource"]));
  const [, cpuSeconds, measuredAt] =
    new RegExp(`^container_cpu_usage_seconds_total\\{.*pod="${name}"\\} (\\S+) (\\d+)$`, "m").exec(resources) ?? [];
  if (cpuSeconds === undefined) throw new Error(`the kubelet has no CPU usage of ${name}`);
  const runs = [...metrics.matchAll(/^headwater_runs_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  return { runs, readAt, cpuSeconds: Number(cpuSeconds), measuredAt: Number(measuredAt) };
}

async function textOf(kubernetes: Kubernetes, path: string): Promise<string> {
  return text(await kubernetes.stream({ method: "GET", path, accept: "*/*", signal: AbortSignal.timeout(30_000) }));
}
