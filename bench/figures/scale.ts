import { request } from "undici";
import { cpuBetween, formatParts, residentSetOf, total } from "../../test/support/process-tree.ts";
import { until } from "../../test/support/until.ts";
import type { Figure } from "../figure.ts";
import { copySources } from "../harness/load/copied-sources.ts";
import {
  applySources,
  bareNamespace,
  createComponent,
  deleteSources,
  namespace,
  settledSources,
  timeChanges,
} from "../harness/load/kube-sources.ts";
import { startScaleSystem, type Metrics, type ScaleSystem } from "../harness/scale-system.ts";
import { describeTimes, percentile } from "../harness/measure/statistics.ts";

/**
 * One operator process and one API process over a real kube-apiserver with etcd, NATS and Postgres. Sources of one built component, each
 * with a timer, are applied while the operator runs: 24 requests at a time, which is faster than `kubectl apply`. Everything runs on this
 * machine and shares its cores; nothing else of Headwater runs.
 */
const [changes, lists] = [100, 20];
const restMs = 20_000;

interface Options {
  readonly sources: number;
  /** How many of them are applied; the others are copies of the first. */
  readonly applied: number;
}

export async function run({ sources, applied }: Options): Promise<readonly Figure[]> {
  const system = await startScaleSystem();
  try {
    await createComponent(system.client);
    const deployed = await firstDeployment(system, Math.min(sources, applied));
    if (sources > applied) await addCopies(system, applied, sources);
    return [...deployed, ...(await secondStart(system, sources)), ...(await firstList(system, sources))];
  } finally {
    await system.stop();
  }
}

/** Caught up: every source has had its pass, no controller has a queued resource, and lists show every change. */
const isCaughtUp =
  (sources: number) =>
  (metrics: Metrics): boolean =>
    metrics(`headwater_controller_leader`) === 1 &&
    metrics(`headwater_controller_reconcile_seconds_count{controller="source"}`) >= sources &&
    // Absent: nothing was ever queued.
    ["source", "subscription", "auto-subscription-source"].every(
      (controller) => !(metrics(`headwater_controller_queue_depth{controller="${controller}"}`) > 0),
    ) &&
    metrics("headwater_mirror_pending") === 0;

async function firstDeployment(system: ScaleSystem, sources: number): Promise<readonly Figure[]> {
  const { client } = system;
  const bareSources = Math.min(sources, 1_000);
  const bareMs = await applySources(client, bareSources, bareNamespace);
  await deleteSources(client, bareNamespace);
  const operator = await system.startOperator();
  const before = system.cpu();
  const writesBefore = await writesOf(client);
  const startedAt = performance.now();
  const appliedMs = await applySources(client, sources);
  await operator.until(isCaughtUp(sources));
  await untilAllSettled(client, sources);
  const readyMs = performance.now() - startedAt;
  const parts = cpuBetween(before, system.cpu());
  const written = writtenBetween(writesBefore, await writesOf(client));
  const { max } = residentSetOf(operator.pid);
  await operator.end("SIGTERM");
  return [
    {
      name: `${sources} sources applied at once until all are ready`,
      value: readyMs / 1_000,
      unit: "s",
      baseline: ((bareMs / bareSources) * sources) / 1_000,
      goal: { of: "value", atMost: Math.max(60, sources / 20) },
      note: `baseline: the same applied and not reconciled; all were applied after ${(appliedMs / 1_000).toFixed(1)} s; CPU s: ${formatParts(parts, 1_000, 1)}`,
    },
    {
      name: `${sources} sources applied at once: requests that write to the API server, by the bench and the operator, per source`,
      value: total(written) / sources,
      unit: "writes",
      note: formatCounts(written),
    },
    megabytes(`${sources} sources: memory of the operator while it deploys all`, max, operatorGoal(sources), "largest resident set"),
  ];
}

/** An operator mirrors the copies, so that the next one finds nothing to do. */
async function addCopies(system: ScaleSystem, from: number, to: number): Promise<void> {
  process.stderr.write(`copying ${to - from} sources …\n`);
  await copySources(system, from, to);
  const operator = await system.startOperator();
  await operator.until(isCaughtUp(to));
  await operator.end("SIGTERM");
}

async function secondStart(system: ScaleSystem, sources: number): Promise<readonly Figure[]> {
  const { client } = system;
  const before = system.cpu();
  const operator = await system.startOperator();
  const againMs = await operator.until(isCaughtUp(sources));
  const parts = cpuBetween(before, system.cpu());
  const { max } = residentSetOf(operator.pid);
  await expectAllSettled(client, sources);
  const writesBefore = await writesOf(client);
  await new Promise((resolve) => setTimeout(resolve, restMs));
  const written = writtenBetween(writesBefore, await writesOf(client));
  const times = await timeChanges(client, sources, changes);
  const rest = residentSetOf(operator.pid).now;
  await operator.end("SIGTERM");
  return [
    {
      name: `${sources} sources: start of the operator until it has caught up`,
      value: againMs / 1_000,
      unit: "s",
      goal: { of: "value", atMost: 30 },
      note: `all are settled, and it takes over a released lease; ready after ${(operator.readyMs / 1_000).toFixed(1)} s; CPU s: ${formatParts(parts, 1_000, 1)}`,
    },
    megabytes(
      `${sources} sources: memory of the operator`,
      max,
      operatorGoal(sources),
      `largest resident set of a start; at rest ${Math.round(rest / 2 ** 20)} MB`,
    ),
    {
      name: `${sources} sources: writes at rest other than the Lease's, per minute`,
      value: total(written) / (restMs / 60_000),
      unit: "writes",
      goal: { of: "value", atMost: 0 },
      note: formatCounts(written),
    },
    {
      name: `one spec change among ${sources} sources until its status is observed, p95`,
      value: percentile(times, 0.95),
      unit: "ms",
      goal: { of: "value", atMost: 500 },
      note: `${changes} changes one after the other; ${describeTimes(times)}`,
    },
  ];
}

/** The API reads lists from Postgres; without an operator, to show that nothing else is needed. */
async function firstList(system: ScaleSystem, sources: number): Promise<readonly Figure[]> {
  const { api, url, key } = await system.startApi();
  const times: number[] = [];
  for (let n = 0; n <= lists; n++) times.push(await timeList(url, key));
  const [first = Number.NaN, ...others] = times;
  const { max } = residentSetOf(api.pid);
  await api.end("SIGTERM");
  return [
    {
      name: `${sources} sources: first list of the API after its start, a page of 100`,
      value: first,
      unit: "ms",
      baseline: percentile(others, 0.5),
      goal: { of: "value", atMost: 1_000 },
      note: `baseline: p50 of the next ${lists}; the API was ready ${(api.readyMs / 1_000).toFixed(1)} s after its start`,
    },
    megabytes(`${sources} sources: memory of the API`, max, 300, `largest resident set after ${lists + 1} lists`),
  ];
}

async function timeList(url: string, key: string): Promise<number> {
  const startedAt = performance.now();
  const { statusCode, body } = await request(`${url}/v1/users/me/sources?limit=100`, { headers: { authorization: `Bearer ${key}` } });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the list was refused: ${text}`);
  return performance.now() - startedAt;
}

const operatorGoal = (sources: number): number => (sources > 10_000 ? 600 : 350);

function megabytes(name: string, bytes: number, atMost: number, note: string): Figure {
  return { name, value: bytes / 2 ** 20, unit: "MB", goal: { of: "value", atMost }, note };
}

/** @throws if some are not after ten minutes */
async function untilAllSettled(client: ScaleSystem["client"], sources: number): Promise<void> {
  let wrong: string | undefined;
  const areSettled = async (): Promise<boolean> => (wrong = await findUnsettled(client, sources)) === undefined;
  const more = (): string => wrong ?? "";
  await until(areSettled, "all sources are settled", { more, maxWaitMs: 600_000, firstPauseMs: 100, maxPauseMs: 100 });
}

async function expectAllSettled(client: ScaleSystem["client"], sources: number): Promise<void> {
  const wrong = await findUnsettled(client, sources);
  if (wrong !== undefined) throw new Error(wrong);
}

/** @returns undefined if all are settled */
async function findUnsettled(client: ScaleSystem["client"], sources: number): Promise<string | undefined> {
  const { settled, example } = await settledSources(client);
  return settled === sources ? undefined : `${settled} of ${sources} sources in ${namespace} are settled; one that is not: ${example}`;
}

/** Requests that wrote something, by resource, from the API server's own account. */
async function writesOf(client: ScaleSystem["client"]): Promise<ReadonlyMap<string, number>> {
  const { body } = await client.request("GET", "/metrics");
  const counts = new Map<string, number>();
  for (const line of String(body).split("\n")) {
    const [, names = "", value] = /^apiserver_request_total\{(.*)\} ([\d.e+]+)$/.exec(line) ?? [];
    const verb = /verb="(POST|PUT|PATCH|DELETE|APPLY)"/.exec(names)?.[1];
    if (verb === undefined || !/group="(headwater.dev|coordination.k8s.io|events.k8s.io)"/.test(names)) continue;
    const [resource = "", subresource = ""] = ["resource", "subresource"].map(
      (name) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(names)?.[1],
    );
    const name = [verb, resource, subresource].filter((part) => part !== "").join(" ");
    counts.set(name, (counts.get(name) ?? 0) + Number(value));
  }
  return counts;
}

/** Without those of the Lease. */
function writtenBetween(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const written = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return new Map(written.filter(([name, count]) => count > 0 && !name.endsWith(" leases")));
}

function formatCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
}
