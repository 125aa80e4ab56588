import type { LiveDeployment, LivePod } from "./live.ts";

/** What keeps pods from running, as a condition tells it. */
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

/** The first that applies is told; the nearer a cause is to the code, the earlier. */
const policies: readonly Policy[] = [imagePullFailed, outOfMemory, crashLooping, containerNotCreated, podRefused, unschedulable];

/** Why a pool has fewer runners than it is to have; undefined: they are on their way. */
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
  return { reason: "ImagePullFailed", message: tell(`pod ${found.pod} cannot get its image`, found.message || found.reason) };
}

function outOfMemory(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const found = crashing(pods).find(({ last }) => last?.reason === "OOMKilled");
  if (found === undefined) return undefined;
  return {
    reason: "OutOfMemory",
    message: `pod ${found.pod} was ended ${found.restarts} times because it used all of its memory: raise spec.resources.limits.memory`,
  };
}

function crashLooping(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const [found] = crashing(pods);
  if (found === undefined) return undefined;
  const how = found.last === undefined ? "" : `, last with exit code ${found.last.exitCode}`;
  return {
    reason: "CrashLooping",
    message: tell(
      `pod ${found.pod} ended ${found.restarts} times${how}`,
      lastLine(found.last?.message ?? "") || `kubectl logs ${found.pod} says why`,
    ),
  };
}

function containerNotCreated(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  const found = waiting(pods, /^(CreateContainer\w*Error|RunContainerError)$/);
  if (found === undefined) return undefined;
  return { reason: "ContainerNotCreated", message: tell(`pod ${found.pod} cannot be started`, found.message || found.reason) };
}

/** The API server takes no more pods: a quota, pod security, an admission webhook. */
function podRefused({ status }: LiveDeployment): Problem | undefined {
  const failure = status.conditions.find(({ type, status: holds }) => type === "ReplicaFailure" && holds === "True");
  if (failure === undefined) return undefined;
  const quota = failure.message?.includes("exceeded quota") === true;
  return {
    reason: quota ? "QuotaExceeded" : "PodRefused",
    message: tell("the cluster takes no more pods", failure.message ?? failure.reason ?? ""),
  };
}

function unschedulable(_: LiveDeployment, pods: readonly LivePod[]): Problem | undefined {
  for (const { metadata, status } of pods) {
    const found = status.conditions.find(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
    if (found !== undefined) return { reason: "Unschedulable", message: tell(`no node takes pod ${metadata.name}`, found.message ?? "") };
  }
  return undefined;
}

function waiting(pods: readonly LivePod[], reasons: RegExp) {
  for (const { metadata, status } of pods)
    for (const { state } of status.containerStatuses)
      if (state.waiting !== undefined && reasons.test(state.waiting.reason)) return { pod: metadata.name, ...state.waiting };
  return undefined;
}

function crashing(pods: readonly LivePod[]) {
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
const longestMessage = 500;

/** What others say may be long. */
const tell = (what: string, why: string): string => `${what}: ${why.length > longestMessage ? `${why.slice(0, longestMessage)}…` : why}`;

/** Containers that the kernel ended for their memory, each ending once: told even when the pod runs again. */
export function outOfMemoryEndings(pods: readonly LivePod[]): readonly { readonly pod: string; readonly key: string }[] {
  return pods.flatMap(({ metadata, status }) =>
    status.containerStatuses.flatMap(({ state, lastState }) =>
      [state.terminated, lastState.terminated]
        .filter((ending) => ending?.reason === "OOMKilled")
        .map((ending) => ({ pod: metadata.name, key: `${metadata.uid} ${ending?.finishedAt}` })),
    ),
  );
}
