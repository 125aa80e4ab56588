import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { podSelector, workloadName } from "../../../operator/runner-pool/objects/names.ts";
import type { Workloads } from "../../../operator/runner-pool/ports.ts";
import type { WorkloadObject } from "../../../operator/runner-pool/objects/objects.ts";
import { connectKubernetes, type Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { createWorkloads } from "../../../platform/kubernetes/workloads.ts";
import { planOf, poolOf, secret, settingsOf } from "../../operator/runner-pool/pools.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";

const kube = await withKubeApi();
const name = workloadName("default");
const selector = podSelector("headwater", "default");
const paths = {
  Deployment: "apis/apps/v1/namespaces/NS/deployments",
  NetworkPolicy: "apis/networking.k8s.io/v1/namespaces/NS/networkpolicies",
  PodDisruptionBudget: "apis/policy/v1/namespaces/NS/poddisruptionbudgets",
  ServiceAccount: "api/v1/namespaces/NS/serviceaccounts",
  Secret: "api/v1/namespaces/NS/secrets",
} as const;

kube.describe("objects that the operator applies", () => {
  let kubernetes: Kubernetes;
  let writes = 0;
  const started: Workloads[] = [];

  beforeAll(async () => {
    const connection = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath) });
    kubernetes = {
      ...connection,
      request: (request) => {
        // An empty patch reads a Secret.
        if (request.method !== "GET" && JSON.stringify(request.body) !== "{}") writes += 1;
        return connection.request(request);
      },
    };
  });
  afterAll(async () => {
    await Promise.all(started.map((workloads) => workloads.stop()));
    await kubernetes?.close();
  });

  async function world(labels: Readonly<Record<string, string>> = {}) {
    const namespace = await kube.namespace(labels);
    const workloads = createWorkloads(kubernetes, {
      namespace,
      selector: { "app.kubernetes.io/managed-by": "headwater-operator" },
      keyLabel: "headwater.dev/pool",
      onError: () => undefined,
      secretCheckMs: 0,
    });
    const changes: string[] = [];
    workloads.onChange((pool) => changes.push(pool));
    await workloads.start();
    started.push(workloads);
    const plan = (spec = {}, replicas = 1, kept = secret) => planOf(poolOf("default", spec), settingsOf({ namespace }), kept, replicas);
    const path = (kind: keyof typeof paths) => `/${paths[kind].replace("NS", namespace)}/${name}`;
    return {
      namespace,
      workloads,
      changes,
      plan,
      read: async (kind: keyof typeof paths) => (await kube.client.request("GET", path(kind))).body,
      patch: (kind: keyof typeof paths, body: unknown) =>
        kube.client.request("PATCH", path(kind), body, { "content-type": "application/merge-patch+json" }),
      remove: (kind: keyof typeof paths) => kube.client.request("DELETE", path(kind)),
      /** Applied again until the cache has received the changes of other writers. */
      until: async (planned: readonly WorkloadObject[], seen: () => Promise<void>) =>
        vi.waitFor(
          async () => {
            await applyAll(workloads, planned);
            await seen();
          },
          { timeout: 120_000, interval: 50 },
        ),
    };
  }

  it("are accepted by the server, and changes are reported by the pool's label", async () => {
    const { workloads, plan, read, changes } = await world();
    await applyAll(workloads, plan());
    expect(await read("Deployment")).toMatchObject({ spec: { replicas: 1, strategy: { rollingUpdate: { maxUnavailable: 0 } } } });
    expect(await read("ServiceAccount")).toMatchObject({ automountServiceAccountToken: false });
    expect(await read("Secret")).toMatchObject({ type: "Opaque" });
    await vi.waitFor(() => expect(changes.filter((pool) => pool === "default").length).toBeGreaterThanOrEqual(4), { timeout: 120_000 });
  });

  it("are not written again while they match the plan", async () => {
    const { workloads, plan } = await world();
    await applyAll(workloads, plan());
    await settled(workloads);
    const before = writes;
    await applyAll(workloads, plan());
    await applyAll(workloads, plan());
    expect(writes).toBe(before);
  });

  it("are not written again by a new operator process", async () => {
    const first = await world();
    await applyAll(first.workloads, first.plan());
    const second = createWorkloads(kubernetes, {
      namespace: first.namespace,
      selector: { "app.kubernetes.io/managed-by": "headwater-operator" },
      keyLabel: "headwater.dev/pool",
      onError: () => undefined,
    });
    started.push(second);
    await second.start();
    const before = writes;
    await applyAll(second, first.plan());
    expect(writes).toBe(before);
  });

  it("restore planned fields that others changed, and keep the other fields", async () => {
    const { plan, patch, read, until } = await world();
    const planned = plan();
    await until(planned, async () => expect(await read("Deployment")).toMatchObject({ spec: { replicas: 1 } }));
    await patch("Deployment", { metadata: { annotations: { "team.example/note": "ours" } }, spec: { replicas: 9, paused: true } });
    await patch("NetworkPolicy", { spec: { ingress: [{}], egress: [{}] } });
    await patch("Secret", { data: { "nats.creds": Buffer.from("stolen").toString("base64") } });
    await until(planned, async () => {
      expect(await read("Deployment")).toMatchObject({
        metadata: { annotations: { "team.example/note": "ours" } },
        spec: { replicas: 1, paused: true },
      });
      const policy = await read("NetworkPolicy");
      expect(policy).toMatchObject({ spec: { egress: [{}, {}, {}] } });
      expect(policy).not.toHaveProperty("spec.ingress");
      expect(await read("Secret")).toMatchObject({ data: { "nats.creds": Buffer.from(secret.credentials).toString("base64") } });
    });
  });

  it("are created again after a deletion", async () => {
    const { plan, remove, read, until } = await world();
    const planned = plan();
    await until(planned, async () => expect(await read("NetworkPolicy")).toHaveProperty("spec"));
    for (const kind of ["NetworkPolicy", "PodDisruptionBudget", "Secret", "ServiceAccount"] as const) await remove(kind);
    await until(planned, async () => {
      for (const kind of ["NetworkPolicy", "PodDisruptionBudget", "Secret", "ServiceAccount"] as const)
        expect(await read(kind)).toHaveProperty("metadata.uid");
    });
  });

  it("lose a field that is no longer planned", async () => {
    const { plan, read, until } = await world();
    await until(plan({ nodeSelector: { disk: "fast" }, runtimeClassName: "gvisor" }), async () =>
      expect(await read("Deployment")).toHaveProperty("spec.template.spec.nodeSelector"),
    );
    await until(plan(), async () => {
      const deployment = await read("Deployment");
      expect(deployment).not.toHaveProperty("spec.template.spec.nodeSelector");
      expect(deployment).not.toHaveProperty("spec.template.spec.runtimeClassName");
    });
  });

  it("match though the server normalizes a quantity", async () => {
    const { workloads, plan } = await world();
    const planned = plan({ resources: { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { memory: "3072Mi" } } });
    await applyAll(workloads, planned);
    await settled(workloads);
    const before = writes;
    await applyAll(workloads, planned);
    expect(writes).toBe(before);
  });

  it("are deleted once they are no longer planned; those of other pools stay", async () => {
    const { workloads, plan, read, namespace } = await world();
    const planned = plan();
    await applyAll(workloads, [...planned, ...planOf(poolOf("other", { owner: "u_a" }), settingsOf({ namespace }))]);
    await settled(workloads);
    await vi.waitFor(async () => {
      await workloads.prune(
        selector,
        planned.filter(({ kind }) => kind !== "PodDisruptionBudget"),
      );
      expect(await read("PodDisruptionBudget")).toMatchObject({ reason: "NotFound" });
    });
    expect(await read("Deployment")).toHaveProperty("spec");
    expect(await workloads.find("PodDisruptionBudget", workloadName("other"))).toBeDefined();
  });

  it("are not found after a deletion, which can be repeated", async () => {
    const { workloads, plan, read } = await world();
    await applyAll(workloads, plan());
    for (let round = 0; round < 2; round++) for (const kind of ["Deployment", "Secret"] as const) await workloads.delete(kind, name);
    expect(await read("Secret")).toMatchObject({ reason: "NotFound" });
    expect(await read("Deployment")).toMatchObject({ reason: "NotFound" });
  });

  it("create pods that the restricted profile accepts, and refuses without their security context", async () => {
    const { plan, namespace } = await world({ "pod-security.kubernetes.io/enforce": "restricted" });
    const deployment = plan().find(({ kind }) => kind === "Deployment") as unknown as { spec: { template: { spec: object } } };
    const { serviceAccountName: _, ...spec } = deployment.spec.template.spec as { serviceAccountName: string };
    const dryRun = (podSpec: object) =>
      kube.client.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "probe" },
        spec: podSpec,
      });
    const taken = await dryRun(spec);
    expect({ status: taken.status, warnings: taken.warnings }).toEqual({ status: 201, warnings: [] });
    expect(await dryRun({ ...spec, securityContext: {} })).toMatchObject({ status: 403 });
  });
});

async function applyAll(workloads: Workloads, planned: readonly WorkloadObject[]): Promise<void> {
  for (const object of planned) await workloads.apply(object);
}

/** The cache has received everything that was applied. */
async function settled(workloads: Workloads): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const kind of ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount"] as const)
        expect(await workloads.find(kind, name)).toBeDefined();
    },
    { timeout: 120_000, interval: 20 },
  );
}
