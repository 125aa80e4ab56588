import type { LiveDeployment, LivePod } from "./objects/live.ts";

/** Why pods do not run, as shown in a condition. */
export interface Problem {
  readonly reason:
    | "ImagePullFailed"
    | "OutOfMemory"
    | "CrashLooping"
    | "ContainerNotCreated"
    | "QuotaExceeded"
    | "PodRefused"
    | "Unschedulable";
  readonly message: string;
}

type Policy = (deployment: LiveDeployment, pods: readonly LivePod[]) => Problem | undefined;

/** The first match is reported; causes closer to the code come first. */
const policies: readonly Policy[] = [imagePullFailed, outOfMemory, crashLooping, containerNotCreated, podRefused, unschedulable];

/** Why a pool has fewer runners than desired; undefined while they are starting. */
export function findProblem(deployment: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const policy of policies) {
    const problem = policy(deployment, staying);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function imagePullFailed(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const found = waiting(pods, /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|RegistryUnavailable)$/);
  if (found === undefined) return undefined;
  return { reason: "ImagePullFailed", message: explain(`pod ${found.pod} cannot get its image`, found.message || found.reason) };
}

function outOfMemory(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const found = crashLoopingContainers(pods).find(({ last }) => last?.reason === "OOMKilled");
  if (found === undefined) return undefined;
  return {
    reason: "OutOfMemory",
    message: `pod ${found.pod} was killed ${found.restarts} times because it ran out of memory: raise spec.resources.limits.memory`,
  };
}

function crashLooping(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const [found] = crashLoopingContainers(pods);
  if (found === undefined) return undefined;
  const how = found.last === undefined ? "" : `, last with exit code ${found.last.exitCode}`;
  return {
    reason: "CrashLooping",
    message: explain(
      `pod ${found.pod} ended ${found.restarts} times${how}`,
      lastLine(found.last?.message ?? "") || `kubectl logs ${found.pod} shows why`,
    ),
  };
}

function containerNotCreated(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const found = waiting(pods, /^(CreateContainer\w*Error|RunContainerError)$/);
  if (found === undefined) return undefined;
  return { reason: "ContainerNotCreated", message: explain(`pod ${found.pod} cannot be started`, found.message || found.reason) };
}

/** The API server rejects pods: quota, pod security, an admission webhook. */
function podRefused({ status }: LiveDeployment): Problem | undefined {
  const failure = status.conditions.find(({ type, status: holds }) => type === "ReplicaFailure" && holds === "True");
  if (failure === undefined) return undefined;
  const quota = failure.message?.includes("exceeded quota") === true;
  return {
    reason: quota ? "QuotaExceeded" : "PodRefused",
    message: explain("the cluster rejects new pods", failure.message ?? failure.reason ?? ""),
  };
}

function unschedulable(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  for (const { metadata, status } of pods) {
    const found = status.conditions.find(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
    if (found !== undefined) return { reason: "Unschedulable", message: explain(`no node fits pod ${metadata.name}`, found.message ?? "") };
  }
  return undefined;
}

function waiting(pods: readonly LivePod[], reasons: RegExp) {
  for (const { metadata, status } of pods)
    for (const { state } of status.containerStatuses)
      if (state.waiting !== undefined && reasons.test(state.waiting.reason)) return { pod: metadata.name, ...state.waiting };
  return undefined;
}

function crashLoopingContainers(pods: readonly LivePod[]) {
  return pods.flatMap(({ metadata, status }) =>
    status.containerStatuses
      .filter(({ state }) => state.waiting?.reason === "CrashLoopBackOff")
      .map(({ restartCount, state, lastState }) => ({
        pod: metadata.name,
        restarts: restartCount,
        last: lastState.terminated ?? state.terminated,
      })),
  );
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
const maxDetailLength = 500;

/** Truncates messages from outside. */
const explain = (what: string, why: string): string =>
  `${what}: ${why.length > maxDetailLength ? `${why.slice(0, maxDetailLength)}…` : why}`;

/** Containers that the kernel killed for their memory, each kill once, even if the pod runs again. */
export function oomKills(pods: readonly LivePod[]): readonly { readonly pod: string; readonly key: string }[] {
  return pods.flatMap(({ metadata, status }) =>
    status.containerStatuses.flatMap(({ state, lastState }) =>
      [state.terminated, lastState.terminated]
        .filter((ending) => ending?.reason === "OOMKilled")
        .map((ending) => ({ pod: metadata.name, key: `${metadata.uid} ${ending?.finishedAt}` })),
    ),
  );
}
