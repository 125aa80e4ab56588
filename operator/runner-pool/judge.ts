import type { RunnerPoolResource } from "../../crds/runner-pool.ts";
import type { ConditionInput } from "../controller/conditions.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { LiveDeployment, LivePod } from "./objects/live.ts";
import { isPoolName } from "./objects/names.ts";
import { findProblem } from "./problems.ts";

/** A pool may be ready and stalled at once: runners work, but more cannot start. */
export interface Verdict {
  readonly ready: boolean;
  readonly reconciling: boolean;
  readonly stalled: boolean;
  readonly reason: string;
  readonly message: string;
}

const stalled = (reason: string, message: string): Verdict => ({ ready: false, reconciling: false, stalled: true, reason, message });

/** Why a pool cannot be used; undefined if it can. `rival`: an older pool of the same owner. */
export function refuse({ metadata: { name }, spec: { owner } }: RunnerPoolResource, rival: string | undefined): Verdict | undefined {
  if (!isPoolName(name))
    return stalled("InvalidName", `'${name}' is not a valid pool name: use at most 35 lower-case letters, digits and inner dashes`);
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

/** The API server refuses an object of the pool, for example because of its resources. Earlier runners keep running. */
export const judgeInvalid = (readyReplicas: number, message: string): Verdict => ({
  ...stalled("InvalidSpec", message),
  ready: readyReplicas > 0,
});

/** Derives the verdict from a pool's Deployment and pods. */
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
  const message = `${available} of ${count(desired)} available, ${status.updatedReplicas} of them up to date`;
  return { ready, reconciling: true, stalled: false, reason: ready ? "RollingOut" : "Starting", message };
}

function asleep(left: number): Verdict {
  const ending = left === 0 ? "" : `; ${count(left)} still ${left === 1 ? "ends" : "end"}`;
  return { ready: true, reconciling: left > 0, stalled: false, reason: "Asleep", message: `no runner is needed${ending}` };
}

const count = (runners: number): string => `${runners} ${runners === 1 ? "runner" : "runners"}`;

/** Verdict for a pool in deletion, which is emptied first. `verdict` is that of its runners. */
export function judgeDraining(sources: number, verdict: Verdict): Verdict {
  const left = `${sources} ${sources === 1 ? "source is" : "sources are"} moving to another pool, followed by their queued invocations`;
  const why = verdict.stalled ? `; ${verdict.reason}: ${verdict.message}` : "";
  return { ready: false, reconciling: true, stalled: false, reason: "Draining", message: left + why };
}

export function conditionsOf(verdict: Verdict): readonly Omit<ConditionInput, "observedGeneration">[] {
  const { reason, message } = verdict;
  const conditionStatus = (yes: boolean): "True" | "False" => (yes ? "True" : "False");
  return [
    { type: "Ready", status: conditionStatus(verdict.ready), reason, message },
    { type: "Reconciling", status: conditionStatus(verdict.reconciling), reason, message },
    { type: "Stalled", status: conditionStatus(verdict.stalled), reason, message },
  ];
}

/**
 * The backlog to show in the status. Each write notifies every watcher, so a change shows at once only if the backlog doubled or halved and
 * changed by a tenth of a runner's share; otherwise after a minute.
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
