import { finalizer } from "../../crds/resource.ts";
import { runnerPoolKind, type RunnerPoolStatus, type RunnerPoolResource } from "../../crds/runner-pool.ts";
import { release } from "../controller/ownership.ts";
import { parseKey } from "../controller/informer.ts";
import { sameStatus } from "../controller/conditions.ts";
import { nextStatus, writeStatus } from "../controller/status.ts";
import { InvalidInput, Invariant } from "../../domain/errors.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { followSettings, makeDefaultPool } from "./default-pool.ts";
import { conditionsOf, judge, judgeDraining, judgeInvalid, refuse, shownBacklog, type Verdict } from "./judge.ts";
import { parseDeployment, parsePod, type LiveDeployment } from "./objects/live.ts";
import { formatSelector, identityOf, podSelector, workloadName } from "./objects/names.ts";
import { workloadKinds, type WorkloadObject } from "./objects/objects.ts";
import type { OwnerPools } from "./owner-pools.ts";
import { planWorkloads } from "./plan.ts";
import type { PodSettings } from "./objects/pod-settings.ts";
import type { RunnerPoolPorts } from "./ports.ts";
import { Scaler } from "./scale.ts";
import { PoolSecrets } from "./secret.ts";
import { PoolEventRecorder } from "./pool-events.ts";

/** A sleeping pool is checked this often: on average its first event waits half of it. */
const asleepRequeueMs = 1_000;
const awakeRequeueMs = 5_000;
const drainingRequeueMs = 1_000;

/** Applies the Kubernetes objects of a pool, scales it by its backlog and reports the result in its status. */
export function runnerPoolReconciler(settings: PodSettings, ports: RunnerPoolPorts, ownerPools: OwnerPools) {
  const context: Context = {
    settings,
    ports,
    scaler: new Scaler(ports),
    secrets: new PoolSecrets(ports),
    events: new PoolEventRecorder(ports),
    shownAt: new Map(),
    registered: new Set(),
  };
  return async (key: string): Promise<number | undefined> => {
    const { name } = parseKey(key);
    const pool = await ports.store.find(runnerPoolKind, "", name);
    if (pool === undefined) return missing(context, name);
    const draining = pool.metadata.deletionTimestamp !== undefined;
    if (draining && !pool.metadata.finalizers.includes(finalizer)) return;
    const refused = draining ? undefined : refuse(pool, ownerPools.rivalOf(pool));
    if (refused !== undefined) return report(context, pool, refused, {}).then(() => undefined);
    return draining ? drain(context, pool) : run(context, await adopt(context, await followSettings(pool, settings, ports.store)));
  };
}

interface Context {
  readonly settings: PodSettings;
  readonly ports: RunnerPoolPorts;
  readonly scaler: Scaler;
  readonly secrets: PoolSecrets;
  readonly events: PoolEventRecorder;
  /** When the backlog in each pool's status was last current. */
  readonly shownAt: Map<string, number>;
  /** Pools whose consumers this process has created: once each, which also recreates consumers that were lost. */
  readonly registered: Set<string>;
}

/** The default pool is created again and adopts its runners. The objects of any other pool are removed. */
async function missing(context: Context, name: string): Promise<undefined> {
  const { ports, settings } = context;
  if (name === defaultPool && settings.defaultPool !== null) {
    await makeDefaultPool(settings, ports.store);
    return undefined;
  }
  const [removedLast] = workloadKinds;
  if ((await ports.workloads.find(removedLast, workloadName(name))) !== undefined) await remove(context, name);
}

/**
 * Adds the finalizer before anything is created, so that everything is certain to be removed. The default pool has none: its sources cannot
 * move, and after the release is uninstalled no operator would remove it.
 */
async function adopt({ ports }: Context, pool: RunnerPoolResource): Promise<RunnerPoolResource> {
  const { metadata } = pool;
  if (metadata.name === defaultPool) return release(ports.store, runnerPoolKind, pool);
  if (metadata.finalizers.includes(finalizer)) return pool;
  return ports.store.update(runnerPoolKind, { ...pool, metadata: { ...metadata, finalizers: [...metadata.finalizers, finalizer] } });
}

async function run(context: Context, pool: RunnerPoolResource): Promise<number> {
  const { verdict, fields } = await applyPool(context, pool).catch((error: unknown) => {
    if (!(error instanceof InvalidInput)) throw error;
    return readInvalid(context, pool, error.message);
  });
  await report(context, pool, verdict, fields);
  return fields.desiredReplicas === 0 ? asleepRequeueMs : awakeRequeueMs;
}

/**
 * First its sources move to another pool, then their queued invocations follow, then the pool is deleted. Sources are notified by the
 * change of this pool.
 */
async function drain(context: Context, pool: RunnerPoolResource): Promise<number | undefined> {
  const { ports } = context;
  const { name } = pool.metadata;
  if (name === defaultPool) return end(context, pool);
  const sources = await ports.consumers.sources(name);
  if (sources > 0) {
    const { verdict, fields } = await applyPool(context, pool);
    await report(context, pool, judgeDraining(sources, verdict), fields);
    return drainingRequeueMs;
  }
  await ports.consumers.remove(name);
  return end(context, pool);
}

async function end(context: Context, pool: RunnerPoolResource): Promise<undefined> {
  if (pool.metadata.name !== defaultPool) await remove(context, pool.metadata.name);
  await release(context.ports.store, runnerPoolKind, pool);
}

/** Deletes the objects of a pool. While the last one exists, others may be left. */
async function remove(context: Context, name: string): Promise<void> {
  for (const kind of workloadKinds.toReversed()) await context.ports.workloads.delete(kind, workloadName(name));
  for (const memory of [context.scaler, context.secrets]) memory.forget(name);
  context.shownAt.delete(name);
  context.registered.delete(name);
}

interface ReconcileResult {
  readonly verdict: Verdict;
  readonly fields: Partial<RunnerPoolStatus>;
}

/** Applies the planned objects, with the replicas that the load requires. */
async function applyPool(context: Context, pool: RunnerPoolResource): Promise<ReconcileResult> {
  const { settings, ports, registered } = context;
  const { name } = pool.metadata;
  if (!registered.has(name)) await ports.consumers.setUp(identityOf(pool));
  registered.add(name);
  const selector = podSelector(settings.release, name);
  const before = await ports.workloads.find("Deployment", workloadName(name));
  const current = before === undefined ? undefined : parseDeployment(before).spec.replicas;
  const { replicas, why, backlog } = await context.scaler.decide(pool, current);
  const [secret, owner] = [await context.secrets.of(identityOf(pool)), await ports.release.owner()];
  const planned = planWorkloads({ pool, settings, secret, replicas, owner });
  const deployment = await applyAll(ports, planned);
  await ports.workloads.prune(selector, planned);
  const pods = (await ports.workloads.list("Pod", selector)).map(parsePod);
  context.events.record(pool, { before: current, replicas, why, backlog, pods });
  const fields = {
    replicas: deployment.status.replicas,
    readyReplicas: deployment.status.readyReplicas,
    desiredReplicas: replicas,
    selector: formatSelector(selector),
    ...(backlog === undefined ? {} : { backlog }),
  };
  return { verdict: judge(replicas, deployment, pods), fields };
}

/** The state of a pool whose objects the API server refuses with this message. */
async function readInvalid({ ports }: Context, { metadata }: RunnerPoolResource, message: string): Promise<ReconcileResult> {
  const found = await ports.workloads.find("Deployment", workloadName(metadata.name));
  const { replicas, readyReplicas } = found === undefined ? { replicas: 0, readyReplicas: 0 } : parseDeployment(found).status;
  return { verdict: judgeInvalid(readyReplicas, message), fields: { replicas, readyReplicas } };
}

async function applyAll({ workloads }: RunnerPoolPorts, planned: readonly WorkloadObject[]): Promise<LiveDeployment> {
  let deployment: LiveDeployment | undefined;
  for (const object of planned) {
    const live = await workloads.apply(object);
    if (object.kind === "Deployment") deployment = parseDeployment(live);
  }
  if (deployment === undefined) throw new Invariant("the plan of a runner pool has no Deployment");
  return deployment;
}

async function report(context: Context, pool: RunnerPoolResource, verdict: Verdict, fields: Partial<RunnerPoolStatus>): Promise<void> {
  const { ports, shownAt } = context;
  const { name } = pool.metadata;
  const now = ports.clock.now();
  const change = (backlog: number | undefined) => ({
    fields: { ...fields, ...(backlog === undefined ? {} : { backlog }) },
    conditions: conditionsOf(verdict),
    now,
  });
  const shown = { backlog: pool.status.backlog, at: shownAt.get(name) ?? 0 };
  const backlog = shownBacklog(shown, fields.backlog, pool.spec.backlogPerReplica, now);
  // Include the current backlog in any write that is due for another reason.
  const isUnchanged = sameStatus(nextStatus(pool, change(backlog)), pool.status);
  if (isUnchanged) return void (fields.backlog === shown.backlog && shownAt.set(name, now));
  shownAt.set(name, now);
  await writeStatus(ports.store, runnerPoolKind, pool, change(fields.backlog ?? backlog));
  if (verdict.stalled && !isStalledBy(pool, verdict.reason))
    ports.events.record(pool, { type: "Warning", reason: verdict.reason, message: verdict.message });
}

const isStalledBy = ({ status }: RunnerPoolResource, reason: string): boolean =>
  (status.conditions ?? []).some(
    ({ type, status: holds, reason: reported }) => type === "Stalled" && holds === "True" && reported === reason,
  );
