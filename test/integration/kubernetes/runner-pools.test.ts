import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { runnerPoolKind } from "../../../crds/runner-pool.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { systemClock } from "../../../domain/clock.ts";
import { Runtime } from "../../../operator/controller/runtime.ts";
import type { OwnerPools } from "../../../operator/runner-pool/owner-pools.ts";
import type { PoolIdentity } from "../../../operator/runner-pool/objects/names.ts";
import { watchRunnerPools } from "../../../operator/runner-pool/start.ts";
import { connectKubernetes, type Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { createReleaseOwner } from "../../../platform/kubernetes/release-owner.ts";
import { createWorkloads } from "../../../platform/kubernetes/workloads.ts";
import { settingsOf } from "../../operator/runner-pool/pools.ts";
import { toolVerdictsOf, type ToolVerdicts } from "../../support/gitops-health.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";

const kube = await withKubeApi({ own: true });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const within = { timeout: 120_000, interval: 50 };

const condition = z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() });
const shown = z.object({
  metadata: z.object({ uid: z.string(), finalizers: z.array(z.string()).default([]) }),
  status: z
    .object({
      replicas: z.number().optional(),
      readyReplicas: z.number().optional(),
      desiredReplicas: z.number().optional(),
      backlog: z.number().optional(),
      selector: z.string().optional(),
      conditions: z.array(condition).default([]),
    })
    .prefault({}),
});

kube.describe("runner pools in a cluster", () => {
  let kubernetes: Kubernetes;
  let store: ResourceStore;
  let runtime: Runtime;
  let ownerPools: OwnerPools;
  let namespace: string;
  let releaseUid: string;
  let writes: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  const backlogs = new Map<string, number>();
  const sources = new Map<string, number>();
  const setUp: PoolIdentity[] = [];
  const removed: string[] = [];
  const recorded: string[] = [];
  const looked: string[] = [];
  /** Number of reconciliations of the default pool. */
  let looks = 0;

  beforeAll(async () => {
    if (kube.missing !== undefined) return;
    namespace = await kube.namespace();
    const release = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "headwater-runner-pods" } };
    releaseUid = String((await kube.client.create(`/api/v1/namespaces/${namespace}/configmaps`, release)).metadata["uid"]);
    const connection = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath) });
    kubernetes = {
      ...connection,
      request: (request) => {
        // An empty patch reads a Secret.
        if (request.method !== "GET" && JSON.stringify(request.body) !== "{}") writes.push(`${request.method} ${request.path}`);
        return connection.request(request);
      },
    };
    store = createKubernetesResourceStore(kubernetes);
    runtime = new Runtime({ store, random: Math.random, log: silent });
    const workloads = createWorkloads(kubernetes, {
      namespace,
      selector: { "app.kubernetes.io/managed-by": "headwater-operator" },
      keyLabel: "headwater.dev/pool",
      onError: () => undefined,
    });
    ownerPools = watchRunnerPools(
      runtime,
      {
        settings: settingsOf({ namespace }),
        release: createReleaseOwner(connection, namespace, "headwater-runner-pods"),
        workloads,
        backlogs: {
          of: async (pool) => {
            if (pool === "default") looks++;
            return backlogs.get(pool) ?? 0;
          },
        },
        load: { of: () => ({ reporting: 0, memoryShare: undefined, cpuShare: undefined }) },
        consumers: {
          setUp: async (pool) => void setUp.push(pool),
          sources: async (pool) => sources.get(pool) ?? 0,
          remove: async (pool) => void removed.push(pool),
        },
        credentials: { version: async () => "1", forPool: async ({ pool }) => `credentials of ${pool} ${Math.random()}` },
        keys: { privateKeys: async (pool) => JSON.stringify({ keys: [{ kid: pool }] }) },
      },
      {
        store: runtime.store,
        clock: systemClock,
        log: silent,
        events: { record: ({ metadata }, { type, reason }) => void recorded.push(`${metadata.name} ${type} ${reason}`) },
        owners: {
          ownerOf: async () => undefined,
          find: async (owner) => {
            looked.push(`${owner} → ${ownerPools.poolOf(owner)}`);
            return undefined;
          },
          ensure: async () => namespace,
        },
      },
    );
    await workloads.start();
    await runtime.start();
    stops.push(
      () => runtime.stop(),
      () => workloads.stop(),
      () => connection.close(),
    );
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  const create = (name: string, spec: Readonly<Record<string, unknown>>) =>
    store.create(runnerPoolKind, { name, namespace: "", spec: runnerPoolKind.spec.parse(spec) });
  const poolPath = (name: string): string => `/apis/headwater.dev/v1alpha1/runnerpools/${name}`;
  const pathOf = (name: string, kind = "apis/apps/v1 deployments"): string => {
    const [group, plural] = kind.split(" ");
    return `/${group}/namespaces/${namespace}/${plural}/headwater-runner-${name}`;
  };
  const read = async (path: string) => (await kube.client.request("GET", path)).body;
  const pool = async (name: string) => shown.parse(await read(poolPath(name)));
  const verdict = async (name: string): Promise<Readonly<Record<string, string>>> => {
    const { conditions } = (await pool(name)).status;
    return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
  };
  /** What Flux and Argo CD make of a pool. */
  const toolVerdicts = async (name: string): Promise<ToolVerdicts> => toolVerdictsOf(await read(poolPath(name)));
  /** The status that the cluster's controllers would write to a Deployment. */
  const report = async (name: string, ready: number, replicas = ready): Promise<void> => {
    const { metadata } = z.object({ metadata: z.object({ generation: z.number() }) }).parse(await read(pathOf(name)));
    const status = {
      observedGeneration: metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: ready,
      availableReplicas: ready,
    };
    const answer = await kube.client.request(
      "PATCH",
      `${pathOf(name)}/status`,
      { status },
      { "content-type": "application/merge-patch+json" },
    );
    expect(answer.status).toBe(200);
  };
  const pods = (): string => `/api/v1/namespaces/${namespace}/pods`;
  /** A pod as the Deployment's controllers would create it. */
  const createPod = (name: string) =>
    kube.client.create(pods(), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: `headwater-runner-${name}-1`,
        labels: {
          "app.kubernetes.io/managed-by": "headwater-operator",
          "app.kubernetes.io/component": "runner",
          "app.kubernetes.io/instance": "headwater",
          "headwater.dev/pool": name,
        },
      },
      spec: { containers: [{ name: "runner", image: "nowhere.example/none:1" }], automountServiceAccountToken: false },
    });
  /** The status that the scheduler or the kubelet would write. */
  const tellOfPod = async (name: string, status: object): Promise<void> => {
    const path = `${pods()}/headwater-runner-${name}-1/status`;
    const answer = await kube.client.request("PATCH", path, { status }, { "content-type": "application/merge-patch+json" });
    expect(answer.status).toBe(200);
  };
  const replicasAre = (name: string, replicas: number) =>
    vi.waitFor(async () => expect(await read(pathOf(name))).toMatchObject({ spec: { replicas } }), within);

  it("include the default pool, which the operator creates", async () => {
    await replicasAre("default", 1);
    await vi.waitFor(
      async () => expect(await verdict("default")).toMatchObject({ Ready: "False Starting", Reconciling: "True Starting" }),
      within,
    );
    expect(await toolVerdicts("default")).toEqual(["InProgress", "Progressing"]);
    await report("default", 1);
    await vi.waitFor(async () => {
      expect(await verdict("default")).toEqual({
        Ready: "True RunnersReady",
        Reconciling: "False RunnersReady",
        Stalled: "False RunnersReady",
      });
      expect((await pool("default")).status).toMatchObject({ replicas: 1, readyReplicas: 1, desiredReplicas: 1, backlog: 0 });
    }, within);
    expect(await toolVerdicts("default")).toEqual(["Current", "Healthy"]);
    expect(setUp).toContainEqual({ pool: "default" });
  });

  it("write nothing while nothing changes", async () => {
    await vi.waitFor(() => expect(runtime.idle).toBe(true), within);
    writes = [];
    const before = (await pool("default")).metadata.uid;
    // It is polled, since no watch reports it.
    const lookedAt = looks;
    await vi.waitFor(() => expect(looks).toBeGreaterThan(lookedAt), within);
    await vi.waitFor(() => expect(runtime.idle).toBe(true), within);
    expect(writes).toEqual([]);
    expect((await pool("default")).metadata.uid).toBe(before);
  });

  it("restore changed objects at once", async () => {
    const policy = pathOf("default", "apis/networking.k8s.io/v1 networkpolicies");
    await kube.client.request("PATCH", policy, { spec: { egress: [{}] } }, { "content-type": "application/merge-patch+json" });
    await vi.waitFor(async () => expect(await read(policy)).toMatchObject({ spec: { egress: [{}, {}, {}] } }), within);
    await kube.client.request("DELETE", pathOf("default", "policy/v1 poddisruptionbudgets").replace("/policy", "/apis/policy"));
    await vi.waitFor(
      async () => expect(await read(pathOf("default", "apis/policy/v1 poddisruptionbudgets"))).toHaveProperty("spec.maxUnavailable", 1),
      within,
    );
  });

  it("scale to zero without a backlog, and wake soon after an event", async () => {
    await create("sleepy", { owner: "u_sleepy00001", minReplicas: 0 });
    await replicasAre("sleepy", 0);
    await report("sleepy", 0);
    await vi.waitFor(async () => expect(await verdict("sleepy")).toMatchObject({ Ready: "True Asleep", Stalled: "False Asleep" }), within);
    backlogs.set("sleepy", 2_500);
    await replicasAre("sleepy", 3);
    await vi.waitFor(() => expect(recorded).toContain("sleepy Normal Woken"), within);
    await vi.waitFor(async () => expect((await pool("sleepy")).status.backlog).toBe(2_500), within);
  });

  it("are pinned by kubectl scale", async () => {
    const selector = "app.kubernetes.io/component=runner,app.kubernetes.io/instance=headwater,headwater.dev/pool=sleepy";
    await vi.waitFor(async () => expect((await pool("sleepy")).status.selector).toBe(selector), within);
    const scaled = await kube.client.request(
      "PATCH",
      `${poolPath("sleepy")}/scale`,
      { spec: { replicas: 2 } },
      { "content-type": "application/merge-patch+json" },
    );
    expect(scaled.body).toMatchObject({ kind: "Scale", spec: { replicas: 2 }, status: { selector } });
    await replicasAre("sleepy", 2);
  });

  it("show their owner in lists", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const table = z.object({
      columnDefinitions: z.array(z.object({ name: z.string() })),
      rows: z.array(z.object({ cells: z.array(z.unknown()) })),
    });
    const { body } = await kube.client.request("GET", poolPath("sleepy"), undefined, { accept });
    const { columnDefinitions, rows } = table.parse(body);
    expect(rows[0]?.cells[columnDefinitions.findIndex(({ name }) => name === "Owner")]).toBe("u_sleepy00001");
  });

  it("report why their pods do not run", async () => {
    await create("broken", { owner: "u_broken00001" });
    await replicasAre("broken", 1);
    await createPod("broken");
    const waiting = { reason: "ImagePullBackOff", message: 'Back-off pulling image "nowhere.example/none:1"' };
    await tellOfPod("broken", {
      containerStatuses: [{ name: "runner", image: "x", imageID: "", ready: false, restartCount: 0, state: { waiting } }],
    });
    await vi.waitFor(
      async () => expect(await verdict("broken")).toMatchObject({ Stalled: "True ImagePullFailed", Ready: "False ImagePullFailed" }),
      within,
    );
    expect(await toolVerdicts("broken")).toEqual(["Failed", "Degraded"]);
    await vi.waitFor(() => expect(recorded).toContain("broken Warning ImagePullFailed"), within);
    await report("broken", 1);
    await vi.waitFor(async () => expect(await verdict("broken")).toMatchObject({ Stalled: "False RunnersReady" }), within);
  });

  it("report resources that Kubernetes refuses, until they are corrected", async () => {
    const resources = { requests: { cpu: "2" }, limits: { cpu: "1" } };
    await create("refused", { owner: "u_refused0001", resources });
    await vi.waitFor(async () => expect(await verdict("refused")).toMatchObject({ Stalled: "True InvalidSpec" }), within);
    const message = JSON.stringify(await kube.client.request("GET", poolPath("refused")));
    expect(message).toContain("must be less than or equal to cpu limit of 1");
    const corrected = { spec: { resources: { requests: { cpu: "1" } } } };
    const type = { "content-type": "application/merge-patch+json" };
    expect((await kube.client.request("PATCH", poolPath("refused"), corrected, type)).status).toBe(200);
    await replicasAre("refused", 1);
  });

  it("report an unschedulable pod at once, also beside ready runners, until a node takes it", async () => {
    await create("crowded", { owner: "u_crowded0001" });
    await replicasAre("crowded", 1);
    await report("crowded", 0, 1);
    await createPod("crowded");
    const says = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: "0/3 nodes are available: 3 Insufficient memory.",
    };
    await tellOfPod("crowded", { conditions: [says] });
    await vi.waitFor(
      async () => expect(await verdict("crowded")).toMatchObject({ Stalled: "True Unschedulable", Ready: "False Unschedulable" }),
      within,
    );
    const { conditions } = (await pool("crowded")).status;
    expect(conditions[0]?.message).toBe(`no node fits pod headwater-runner-crowded-1: ${says.message}`);
    await vi.waitFor(() => expect(recorded).toContain("crowded Warning Unschedulable"), within);
    // The previous runner keeps running: the pool is ready and stalled.
    await report("crowded", 1, 2);
    await vi.waitFor(
      async () => expect(await verdict("crowded")).toMatchObject({ Stalled: "True Unschedulable", Ready: "True Unschedulable" }),
      within,
    );
    await tellOfPod("crowded", { conditions: [{ type: "PodScheduled", status: "True" }] });
    await vi.waitFor(async () => expect(await verdict("crowded")).toMatchObject({ Stalled: "False RollingOut" }), within);
    await report("crowded", 1);
    await vi.waitFor(async () => expect(await verdict("crowded")).toMatchObject({ Ready: "True RunnersReady" }), within);
  });

  it("run an owner's sources in the older of two pools, and in the other after that is deleted", async () => {
    await create("first", { owner: "u_twice000001" });
    await vi.waitFor(() => expect(ownerPools.poolOf("u_twice000001")).toBe("first"), within);
    await vi.waitFor(async () => expect(await read(pathOf("first"))).toHaveProperty("spec"), within);
    // Creation times are whole seconds; for equal ones, the name decides.
    await create("second", { owner: "u_twice000001" });
    await vi.waitFor(async () => expect(await verdict("second")).toMatchObject({ Stalled: "True OwnerHasAnotherPool" }), within);
    expect(await read(pathOf("second"))).toMatchObject({ reason: "NotFound" });
    expect(ownerPools.poolOf("u_twice000001")).toBe("first");
    sources.set("first", 2);
    await store.delete(runnerPoolKind, "", "first");
    await vi.waitFor(
      async () => expect(await verdict("first")).toMatchObject({ Ready: "False Draining", Reconciling: "True Draining" }),
      within,
    );
    expect(await read(pathOf("first"))).toHaveProperty("spec");
    await vi.waitFor(() => expect(ownerPools.poolOf("u_twice000001")).toBe("second"), within);
    await vi.waitFor(() => expect(looked).toContain("u_twice000001 → second"), within);
    expect(removed).not.toContain("first");
    sources.set("first", 0);
    await vi.waitFor(async () => expect(await read(poolPath("first"))).toMatchObject({ reason: "NotFound" }), within);
    expect(removed).toContain("first");
    expect(await read(pathOf("first"))).toMatchObject({ reason: "NotFound" });
    expect(await read(pathOf("first", "api/v1 secrets"))).toMatchObject({ reason: "NotFound" });
    await replicasAre("second", 1);
  });

  it("recreate a deleted default pool, whose runners keep running", async () => {
    const before = await pool("default");
    const deployment = z.object({ metadata: z.object({ uid: z.string() }) });
    const runners = deployment.parse(await read(pathOf("default")));
    await store.delete(runnerPoolKind, "", "default");
    await vi.waitFor(async () => {
      const after = await pool("default");
      expect(after.metadata.uid).not.toBe(before.metadata.uid);
      expect(await read(pathOf("default"))).toMatchObject({
        metadata: { uid: runners.metadata.uid, ownerReferences: [{ uid: releaseUid }] },
      });
    }, within);
    expect(removed).not.toContain("default");
    expect((await pool("default")).metadata.finalizers).toEqual([]);
  });

  it("are removed after their pool vanished without the operator", async () => {
    await create("vanished", { owner: "u_vanished001" });
    await replicasAre("vanished", 1);
    await vi.waitFor(async () => expect(await read(pathOf("vanished", "api/v1 secrets"))).toHaveProperty("data"), within);
    await vi.waitFor(async () => {
      const patched = { metadata: { finalizers: null } };
      await kube.client.request("PATCH", poolPath("vanished"), patched, { "content-type": "application/merge-patch+json" });
      await kube.client.request("DELETE", poolPath("vanished"));
      expect(await read(poolPath("vanished"))).toMatchObject({ reason: "NotFound" });
    }, within);
    await vi.waitFor(async () => {
      for (const kind of ["apis/apps/v1 deployments", "api/v1 secrets", "api/v1 serviceaccounts"])
        expect(await read(pathOf("vanished", kind))).toMatchObject({ reason: "NotFound" });
    }, within);
  });

  it("keep credentials until their version changes", async () => {
    const secret = z.object({ data: z.record(z.string(), z.string()) });
    const text = async (): Promise<string | undefined> => secret.parse(await read(pathOf("second", "api/v1 secrets"))).data["nats.creds"];
    const before = await text();
    await kube.client.request(
      "PATCH",
      poolPath("second"),
      { spec: { maxReplicas: 9 } },
      { "content-type": "application/merge-patch+json" },
    );
    await vi.waitFor(() => expect(runtime.idle).toBe(true), within);
    expect(await text()).toBe(before);
  });
});
