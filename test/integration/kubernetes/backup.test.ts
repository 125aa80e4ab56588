import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { Forbidden, Gone } from "../../../domain/errors.ts";
import { connectKubernetes, type Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { requireOnlySaved, restoreResources, type MovedGeneration } from "../../../platform/kubernetes/backup/restore.ts";
import { resourceLines } from "../../../platform/kubernetes/backup/save.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withKubernetes } from "./support.ts";

/** Resources of one cluster are restored in another one, which gives its objects other uids and generations. */
const former = await withKubeApi({ own: true });
const next = await withKubeApi({ own: true });
const namespace = "hw-u-backup";
const resources = "/apis/headwater.dev/v1alpha1";
const inNamespace = (plural: string, name = ""): string => `${resources}/namespaces/${namespace}/${plural}${name === "" ? "" : `/${name}`}`;
const [secrets, configMaps] = [`/api/v1/namespaces/${namespace}/secrets`, `/api/v1/namespaces/${namespace}/configmaps`];
/** Of a resource that no longer exists. */
const deletedUid = "00000000-0000-4000-8000-000000000000";
const asMerge = { "content-type": "application/merge-patch+json" };

const metadataShape = z.looseObject({
  metadata: z.looseObject({ uid: z.string(), generation: z.number().default(0), labels: z.record(z.string(), z.string()).default({}) }),
});
const sourceShape = metadataShape.extend({
  status: z.looseObject({
    id: z.string(),
    observedGeneration: z.number(),
    conditions: z.array(z.looseObject({ observedGeneration: z.number() })),
  }),
});

former.describe("the resources of a backup", () => {
  const connected = withKubernetes(former);
  const restoring = withKubernetes(next);
  let lines: readonly Uint8Array[] = [];
  let moved: readonly MovedGeneration[] = [];
  const read = async function* (): AsyncGenerator<Uint8Array> {
    yield* lines;
  };
  const restore = (kubernetes: Kubernetes): Promise<readonly MovedGeneration[]> => restoreResources(kubernetes, read);
  const get = async (path: string): Promise<unknown> => (await next.client.request("GET", path)).body;

  beforeAll(async () => {
    const { client } = former;
    const meta = { labels: { "headwater.dev/owner": "u_backup", team: "a" } };
    await client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, ...meta } });
    const source = (name: string, more: object = {}) => ({
      apiVersion: "headwater.dev/v1alpha1",
      kind: "Source",
      metadata: { name, labels: { kept: "yes" }, finalizers: ["headwater.dev/cleanup"], ...more },
      spec: { code: "export default { name: 'Kept', async run() {} };" },
    });
    const owner = metadataShape.parse(await client.create(inNamespace("sources"), source("kept")));
    await client.create(inNamespace("sources"), source("ending"));
    const ownerReferences = [
      { apiVersion: "headwater.dev/v1alpha1", kind: "Source", name: "kept", uid: owner.metadata.uid, controller: true },
    ];
    const made = {
      finalizers: [],
      ownerReferences,
      labels: { "headwater.dev/made-for": owner.metadata.uid, "example.com/uid": owner.metadata.uid },
      annotations: { "headwater.dev/made-for-generation": "2" },
    };
    await client.create(inNamespace("components"), { ...source("a-code", made), kind: "Component" });
    const outdated = { ...made, annotations: { "headwater.dev/made-for-generation": "1" } };
    await client.create(inNamespace("components"), { ...source("b-code", outdated), kind: "Component" });
    const auto = metadataShape.parse(
      await client.create(inNamespace("autosubscriptions"), {
        apiVersion: "headwater.dev/v1alpha1",
        kind: "AutoSubscription",
        metadata: { name: "all" },
        spec: { channel: "$errors", listenerRef: { kind: "Webhook", name: "errors" } },
      }),
    );
    const subscribedBy = { "headwater.dev/auto-subscribed-by": `${auto.metadata.uid},${deletedUid}` };
    await client.request("PATCH", inNamespace("sources", "kept"), { metadata: { annotations: subscribedBy } }, asMerge);
    await client.create(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "kept", ownerReferences },
      stringData: { token: "s3cret" },
    });
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "code" }, data: { "index.js": "1" } });
    await client.request("PATCH", inNamespace("sources", "kept"), { spec: { name: "Changed" } }, asMerge);
    const condition = { type: "Ready", status: "True", reason: "Deployed", message: "", lastTransitionTime: "2026-11-27T00:00:00Z" };
    const status = { id: "dc_kept", observedGeneration: 2, conditions: [{ ...condition, observedGeneration: 2 }] };
    const patched = await client.request("PATCH", `${inNamespace("sources", "kept")}/status`, { status }, asMerge);
    expect(patched.status, JSON.stringify(patched.body)).toBe(200);
    await client.request("DELETE", inNamespace("sources", "ending"));
    const saved: Uint8Array[] = [];
    for await (const line of resourceLines(connected(), () => undefined)) saved.push(line);
    lines = saved;
  });

  it("are saved once each when the API server drops the snapshot of a list", async () => {
    let drops = 0;
    const kubernetes: Kubernetes = {
      ...connected(),
      request: async (call) => {
        if (call.path !== `${resources}/sources` || drops > 1) return connected().request(call);
        drops++;
        if (call.query?.["continue"] !== undefined) throw new Gone("the snapshot of the list has expired");
        const page = z.looseObject({ metadata: z.looseObject({}) }).parse(await connected().request(call));
        return { ...page, metadata: { ...page.metadata, continue: "the next page" } };
      },
    };
    const saved: string[] = [];
    for await (const line of resourceLines(kubernetes, () => undefined))
      saved.push(metadataShape.parse(JSON.parse(String(Buffer.from(line)))).metadata.uid);
    expect(drops).toBe(2);
    expect(saved.toSorted()).toEqual(
      lines.map((line) => metadataShape.parse(JSON.parse(String(Buffer.from(line)))).metadata.uid).toSorted(),
    );
  });

  it("fail to be restored with the error of the API server, which does not end the process", async () => {
    const refused = new Forbidden("the account may not create resources");
    const kubernetes: Kubernetes = {
      ...restoring(),
      request: (call) => (call.method === "POST" ? Promise.reject(refused) : restoring().request(call)),
    };
    const slowly = async function* (): AsyncGenerator<Uint8Array> {
      for (const line of lines) {
        yield line;
        await new Promise((resolve) => setTimeout(resolve, 5)); // As when a file is read.
      }
    };
    await expect(restoreResources(kubernetes, slowly)).rejects.toBe(refused);
  });

  it("are restored with labels, statuses of the new generation, and references to the new uids", async () => {
    await requireOnlySaved(restoring(), read());
    moved = await restore(restoring());
    expect(metadataShape.parse(await get(`/api/v1/namespaces/${namespace}`)).metadata.labels).toMatchObject({ team: "a" });
    const source = sourceShape.parse(await get(inNamespace("sources", "kept")));
    expect(source.metadata).toMatchObject({ generation: 1, labels: { kept: "yes" }, finalizers: ["headwater.dev/cleanup"] });
    expect(source.status).toMatchObject({ id: "dc_kept", observedGeneration: 1, conditions: [{ observedGeneration: 1, status: "True" }] });
    expect(moved).toEqual([{ kind: "Source", id: "dc_kept", saved: 2, restored: 1 }]);
    const ownerReferences = [expect.objectContaining({ uid: source.metadata.uid, name: "kept" })];
    expect(await get(inNamespace("components", "a-code"))).toMatchObject({ metadata: { ownerReferences } });
    const { uid } = source.metadata;
    expect(await get(inNamespace("components", "a-code"))).toMatchObject({
      metadata: {
        labels: { "headwater.dev/made-for": uid, "example.com/uid": expect.not.stringContaining(uid) },
        annotations: { "headwater.dev/made-for-generation": "1" },
      },
    });
    expect(await get(inNamespace("components", "b-code"))).toMatchObject({
      metadata: { annotations: { "headwater.dev/made-for-generation": "0" } },
    });
    const auto = metadataShape.parse(await get(inNamespace("autosubscriptions", "all")));
    expect(source.metadata["annotations"]).toMatchObject({ "headwater.dev/auto-subscribed-by": `${auto.metadata.uid},${deletedUid}` });
    expect(await get(`${secrets}/kept`)).toMatchObject({
      metadata: { ownerReferences },
      data: { token: Buffer.from("s3cret").toString("base64") },
    });
    expect(await get(`${configMaps}/code`)).toMatchObject({ data: { "index.js": "1" } });
  });

  it("are being deleted again if they were", async () => {
    expect(await get(inNamespace("sources", "ending"))).toMatchObject({ metadata: { deletionTimestamp: expect.anything() } });
  });

  it("are the same after a repeated restore", async () => {
    const before = await get(inNamespace("sources", "kept"));
    expect(await restore(restoring())).toEqual(moved);
    const after = sourceShape.parse(await get(inNamespace("sources", "kept")));
    expect(after.status).toEqual(sourceShape.parse(before).status);
  });

  it("stay as they are in the cluster that they come from", async () => {
    const kubernetes = await connectKubernetes({ access: await readKubeconfig(former.kubeconfigPath) });
    await requireOnlySaved(kubernetes, read());
    expect(await restore(kubernetes)).toEqual([]);
    await kubernetes.close();
  });

  it("are not restored beside others", async () => {
    await expect(requireOnlySaved(restoring(), read())).rejects.toThrow("that are not in the backup");
  });
});
