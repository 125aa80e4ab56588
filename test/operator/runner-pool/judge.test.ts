import { describe, expect, it } from "vitest";
import { judge, judgeDraining, refuse, shownBacklog } from "../../../operator/runner-pool/judge.ts";
import { parseDeployment, parsePod, type LivePod } from "../../../operator/runner-pool/objects/live.ts";
import { oomKills } from "../../../operator/runner-pool/problems.ts";
import { poolOf } from "./pools.ts";

const metadata = { name: "runner-1", uid: "1", resourceVersion: "1", generation: 2, labels: {}, annotations: {} };
const deployment = (replicas: number, status: Readonly<Record<string, unknown>>) =>
  parseDeployment({ metadata, spec: { replicas }, status: { observedGeneration: 2, ...status } });
const pod = (status: Readonly<Record<string, unknown>>): LivePod => parsePod({ metadata, status });
const waiting = (reason: string, message: string) =>
  pod({ containerStatuses: [{ restartCount: 0, state: { waiting: { reason, message } } }] });
const crashed = (reason: string, exitCode: number, message = "") =>
  pod({
    containerStatuses: [
      {
        restartCount: 5,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { reason, exitCode, message, finishedAt: "t" } },
      },
    ],
  });
const refused = (message: string) => ({ conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message }] });
const unschedulable = pod({
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes: Insufficient cpu" }],
});
const full = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

describe("the status of a pool", () => {
  it.each([
    ["all runners are there", 2, full, [], { ready: true, reconciling: false, stalled: false, reason: "RunnersReady" }],
    ["none is wanted", 0, { replicas: 0 }, [], { ready: true, reconciling: false, stalled: false, reason: "Asleep" }],
    [
      "none is wanted, one still ends",
      0,
      { replicas: 1, availableReplicas: 1 },
      [],
      { ready: true, reconciling: true, stalled: false, reason: "Asleep" },
    ],
    [
      "the first one starts",
      1,
      { replicas: 1, updatedReplicas: 1 },
      [],
      { ready: false, reconciling: true, stalled: false, reason: "Starting" },
    ],
    [
      "a further one starts",
      2,
      { ...full, availableReplicas: 1 },
      [],
      { ready: true, reconciling: true, stalled: false, reason: "RollingOut" },
    ],
    [
      "new pods replace old ones",
      2,
      { ...full, replicas: 3, updatedReplicas: 1 },
      [],
      { ready: true, reconciling: true, stalled: false, reason: "RollingOut" },
    ],
    [
      "the spec is not yet observed",
      2,
      { ...full, observedGeneration: 1 },
      [],
      { ready: true, reconciling: true, stalled: false, reason: "RollingOut" },
    ],
    [
      "the image cannot be pulled",
      1,
      {},
      [waiting("ImagePullBackOff", "no such image x:1")],
      { ready: false, stalled: true, reason: "ImagePullFailed" },
    ],
    [
      "an update's image cannot be pulled",
      2,
      { ...full, replicas: 3, updatedReplicas: 1 },
      [waiting("ErrImagePull", "gone")],
      { ready: true, stalled: true, reason: "ImagePullFailed" },
    ],
    [
      "the quota is used up",
      3,
      { ...full, ...refused('pods "x" is forbidden: exceeded quota: pods') },
      [],
      { ready: true, stalled: true, reason: "QuotaExceeded" },
    ],
    ["pod security refuses it", 1, refused("violates PodSecurity"), [], { ready: false, stalled: true, reason: "PodRefused" }],
    [
      "it crashes again and again",
      1,
      {},
      [crashed("Error", 1, "a line\nNATS refused us\n")],
      { ready: false, stalled: true, reason: "CrashLooping" },
    ],
    ["it runs out of memory again and again", 1, {}, [crashed("OOMKilled", 137)], { ready: false, stalled: true, reason: "OutOfMemory" }],
    ["no node takes it", 1, {}, [unschedulable], { ready: false, stalled: true, reason: "Unschedulable" }],
    [
      "its Secret is not there",
      1,
      {},
      [waiting("CreateContainerConfigError", "secret not found")],
      { ready: false, stalled: true, reason: "ContainerNotCreated" },
    ],
  ])("when %s", (_, desired, status, pods, verdict) => {
    expect(judge(desired, deployment(desired, status), pods)).toMatchObject(verdict);
  });

  it("names the failed pod and the cause", () => {
    expect(judge(1, deployment(1, {}), [crashed("Error", 1, "a line\nNATS refused us\n")]).message).toBe(
      "pod runner-1 ended 5 times, last with exit code 1: NATS refused us",
    );
  });

  it("ignores pods in deletion", () => {
    const going = { ...waiting("ImagePullBackOff", ""), metadata: { name: "x", uid: "x", deletionTimestamp: "2026-11-21T10:00:00Z" } };
    expect(judge(1, deployment(1, {}), [going])).toMatchObject({ stalled: false });
  });

  it("reports how many sources a draining pool still has, and what blocks it", () => {
    const stuck = judge(1, deployment(1, {}), [waiting("ErrImagePull", "gone")]);
    expect(judgeDraining(3, stuck)).toEqual({
      ready: false,
      reconciling: true,
      stalled: false,
      reason: "Draining",
      message:
        "3 sources are moving to another pool, followed by their queued invocations; ImagePullFailed: pod runner-1 cannot get its image: gone",
    });
  });

  it("counts each out-of-memory kill once", () => {
    expect(oomKills([crashed("OOMKilled", 137), crashed("Error", 1)])).toEqual([{ pod: "runner-1", key: "1 t" }]);
  });

  it("counts those of the container that runs code", () => {
    const terminated = { reason: "OOMKilled", exitCode: 137, finishedAt: "t" };
    const sandbox = pod({ containerStatuses: [{}], initContainerStatuses: [{ restartCount: 1, lastState: { terminated } }] });
    expect(oomKills([sandbox])).toEqual([{ pod: "runner-1", key: "1 t" }]);
  });
});

describe("a pool that is refused", () => {
  it.each([
    ["two pools of one owner", poolOf("late", { owner: "u_a" }), "early", "OwnerHasAnotherPool"],
    ["a pool without an owner", poolOf("stray"), undefined, "NoOwner"],
    ["a default pool of one owner", poolOf("default", { owner: "u_a" }), undefined, "DefaultHasOwner"],
    ["a name with a dot", poolOf("a.b", { owner: "u_a" }), undefined, "InvalidName"],
    ["a name of 36 characters", poolOf("p".repeat(36), { owner: "u_a" }), undefined, "InvalidName"],
  ])("%s", (_, pool, rival, reason) => {
    expect(refuse(pool, rival)).toMatchObject({ ready: false, stalled: true, reason });
  });

  it.each([
    ["the default pool", poolOf("default")],
    ["an owner's only pool", poolOf("own", { owner: "u_a" })],
    ["a name of 35 characters", poolOf("p".repeat(35), { owner: "u_a" })],
  ])("is not %s", (_, pool) => {
    expect(refuse(pool, undefined)).toBeUndefined();
  });
});

describe("the backlog in the status", () => {
  it.each([
    ["nothing yet", undefined, 0, 5, 5],
    ["small changes wait", 10, 1_000, 60, 10],
    ["small changes are shown after a minute", 10, 60_000, 60, 60],
    ["large ones at once", 10, 1_000, 5_000, 5_000],
    ["an end of a large one at once", 5_000, 1_000, 0, 0],
    ["an unknown one stays as it was", 70, 120_000, undefined, 70],
  ])("%s", (_, shown, now, backlog, expected) => {
    expect(shownBacklog({ backlog: shown, at: 0 }, backlog, 1_000, now)).toBe(expected);
  });
});
