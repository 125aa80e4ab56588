import type { ConditionInput } from "../controller/conditions.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { LiveDeployment, LivePod } from "./live.ts";
import { isPoolName, type RunnerPoolResource } from "./names.ts";
import { findProblem } from "./problems.ts";

/** Three conditions of one finding. A pool may be ready, and yet stalled on its way to more runners. */
export interface Verdict {
  readonly ready: boolean;
  readonly reconciling: boolean;
  readonly stalled: boolean;
  readonly reason: string;
  readonly message: string;
}

const stalled = (reason: string, message: string): Verdict => ({ ready: false, reconciling: false, stalled: true, reason, message });

/** Why nothing is made of a pool; undefined: it is what it should be. `rival`: the owner's older pool. */
export function refuse({ metadata: { name }, spec: { owner } }: RunnerPoolResource, rival: string | undefined): Verdict | undefined {
  if (!isPoolName(name))
    return stalled("InvalidName", `'${name}' is no name of a pool: at most 35 lower-case letters, digits and dashes between them`);
  if (name === defaultPool && owner !== undefined)
    return stalled(
      "DefaultHasOwner",
      `the pool ${defaultPool} runs everybody's sources and has no owner: create another RunnerPool for ${owner}`,
    );
  if (name !== defaultPool && owner === undefined)
    return stalled("NoOwner", `set spec.owner: only the pool named ${defaultPool} runs the sources of everybody`);
  if (rival !== undefined)
    return stalled("OwnerHasAnotherPool", `the sources of ${owner} run in the older pool ${rival}: delete one of the two`);
  return undefined;
}

/** What a pool's Deployment and pods say of it. */
export function judge(desired: number, deployment: LiveDeployment, pods: readonly LivePod[]): Verdict {
  const { status, metadata } = deployment;
  const available = status.availableReplicas;
  const settled =
    status.observedGeneration >= metadata.generation &&
    status.updatedReplicas >= desired &&
    available >= desired &&
    status.replicas === desired;
  if (desired === 0) return asleep(status.replicas);
  if (settled) return { ready: true, reconciling: false, stalled: false, reason: "RunnersReady", message: count(available) + " ready" };
  const ready = available > 0;
  const problem = findProblem(deployment, pods);
  if (problem !== undefined) return { ready, reconciling: false, stalled: true, ...problem };
  const message = `${available} of ${count(desired)} available, ${status.updatedReplicas} of them as the pool is now`;
  return { ready, reconciling: true, stalled: false, reason: ready ? "RollingOut" : "Starting", message };
}

function asleep(left: number): Verdict {
  const ending = left === 0 ? "" : `; ${count(left)} still ${left === 1 ? "ends" : "end"}`;
  return { ready: true, reconciling: left > 0, stalled: false, reason: "Asleep", message: `no runner is wanted${ending}` };
}

const count = (runners: number): string => `${runners} ${runners === 1 ? "runner" : "runners"}`;

/** A pool that is to go is emptied first; `verdict` says how its runners do meanwhile. */
export function judgeDraining(sources: number, verdict: Verdict): Verdict {
  const left = `${sources} ${sources === 1 ? "source is" : "sources are"} to move to another pool, then what waits for them`;
  const why = verdict.stalled ? `; ${verdict.reason}: ${verdict.message}` : "";
  return { ready: false, reconciling: true, stalled: false, reason: "Draining", message: left + why };
}

export function conditionsOf(verdict: Verdict): readonly Omit<ConditionInput, "observedGeneration">[] {
  const { reason, message } = verdict;
  const says = (yes: boolean): "True" | "False" => (yes ? "True" : "False");
  return [
    { type: "Ready", status: says(verdict.ready), reason, message },
    { type: "Reconciling", status: says(verdict.reconciling), reason, message },
    { type: "Stalled", status: says(verdict.stalled), reason, message },
  ];
}

/**
 * The backlog that the status is to show. It moves all the time, and each write is one to every watcher, so what is shown follows
 * at once only where it doubled or halved and a tenth of a runner's share is at stake; whatever else after a minute.
 */
export function shownBacklog(
  shown: { readonly backlog: number | undefined; readonly at: number },
  backlog: number | undefined,
  backlogPerReplica: number,
  now: number,
): number | undefined {
  if (backlog === undefined || shown.backlog === undefined) return backlog ?? shown.backlog;
  const change = Math.abs(backlog - shown.backlog);
  const large = change >= backlogPerReplica / 10 && (backlog > 2 * shown.backlog || backlog < shown.backlog / 2);
  return large || now - shown.at >= 60_000 ? backlog : shown.backlog;
}
