import { afterAll, beforeAll, expect, test } from "vitest";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";

/** Each role is a process, on a real kube-apiserver. No kubelet runs pods there, so the runner is a process too. */
const kube = await withKubeApi({ own: true });
const owner = "u_localuser";

let directory: TemporaryDirectory;
let cluster: Cluster;
let receiver: Receiver;
let namespace: string;

interface Listed {
  readonly data: readonly { readonly id: string; readonly name: string }[];
}

interface Applied {
  readonly spec: { readonly name?: string; readonly componentRef?: { readonly name: string } };
  readonly status?: {
    readonly id?: string;
    readonly endpoint?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

async function get(kind: string, name: string, of = namespace): Promise<Applied> {
  const found = await kube.objects.find(`${kind} ${name}`, of);
  if (found === undefined) throw new Error(`there is no ${kind} ${name} in ${of}`);
  return found as unknown as Applied; // The API server returns the stored object.
}

/** Applies like kubectl. */
const apply = (resource: object): Promise<void> => kube.objects.apply(JSON.stringify(resource), namespace);

const resource = (kind: string, name: string, spec: object, of = namespace): object => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind,
  metadata: { name, namespace: of },
  spec,
});

const ready = async (kind: string, name: string, of = namespace) =>
  (await get(kind, name, of)).status?.conditions?.find(({ type }) => type === "Ready");

const ticking = `
export default {
  name: "Heartbeat",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } }, http: "$.interface.http" },
  async run(event) { this.$emit({ path: event?.path ?? "tick" }); },
};`;

kube.describe("kubectl and the REST interface", () => {
  beforeAll(async () => {
    namespace = await kube.namespace({ "headwater.dev/owner": owner });
    directory = await temporaryDirectory("two-doors");
    receiver = await startReceiver();
    cluster = await startCluster(directory.path, { kubeconfig: kube.kubeconfigPath });
  });
  afterAll(async () => {
    await cluster?.stop();
    await receiver?.close();
    await directory?.remove();
  });

  test("a source that kubectl applies becomes ready, ticks, responds, and has its events delivered to a webhook", async () => {
    await apply(resource("Webhook", "receiver", { url: receiver.url }));
    await apply(resource("Source", "heartbeat", { code: ticking }));
    await apply(
      resource("Subscription", "beats", {
        emitterRef: { kind: "Source", name: "heartbeat" },
        listenerRef: { kind: "Webhook", name: "receiver" },
      }),
    );
    await until(async () => (await ready("source", "heartbeat"))?.status === "True", "the source is ready");
    await until(async () => (await ready("subscription", "beats"))?.status === "True", "the subscription is ready");
    await until(() => receiver.received.some(({ body }) => body.includes("tick")), "a tick arrives");
    const { endpoint } = (await get("source", "heartbeat")).status ?? {};
    expect((await fetch(`${endpoint}/hello`)).status).toBe(200);
    await until(() => receiver.received.some(({ body }) => body.includes("/hello")), "the request's event arrives");
  });

  test("the REST interface lists, changes and runs a source that kubectl applied", async () => {
    const { id } = (await get("source", "heartbeat")).status ?? {};
    let listed: Listed["data"] = [];
    await until(
      async () => (listed = (await cluster.call<Listed>("GET", "/users/me/sources")).body.data).length > 0,
      "the source is listed",
    );
    expect(listed).toMatchObject([{ id, name: "heartbeat" }]);
    const renamed = await cluster.call("PUT", `/sources/${id}`, { name: "Renamed" });
    expect([renamed.status, (await get("source", "heartbeat")).spec.name]).toEqual([200, "Renamed"]);
    expect((await cluster.call<Listed>("GET", "/users/me/sources")).body.data).toMatchObject([{ name: "Renamed" }]);
    const run = await cluster.call<{ data: { status: string } }>("POST", `/sources/${id}/runs`, {});
    expect([run.status, run.body.data.status]).toEqual([200, "succeeded"]);
  });

  test("a source created through the REST interface is a resource in the owner's namespace", async () => {
    const made = await cluster.call<{ data: { id: string } }>("POST", "/sources", { component_code: ticking, name: "By REST" });
    expect(made.status).toBe(200);
    const { id } = made.body.data;
    const name = id.replace("_", "-");
    expect((await get("source", name)).spec.name).toBe("By REST");
    expect((await ready("source", name))?.status).toBe("True");
    expect((await cluster.call("DELETE", `/sources/${id}`)).status).toBe(204);
    expect(await kube.objects.find(`source ${name}`, namespace)).toBeUndefined();
    const { data } = (await cluster.call<Listed>("GET", "/users/me/sources")).body;
    expect(data.map((source) => source.id)).not.toContain(id);
  });

  test("a source that kubectl deletes disappears from lists", async () => {
    await kube.objects.delete("source heartbeat", namespace);
    await until(async () => (await cluster.call<Listed>("GET", "/users/me/sources")).body.data.length === 0, "no source is listed");
  });

  test("a resource in a namespace without an owner reports the reason, and becomes ready once a label names the owner", async () => {
    const nobodys = await kube.namespace();
    await apply(resource("Source", "lost", { code: ticking }, nobodys));
    await until(async () => (await ready("source", "lost", nobodys))?.reason === "NamespaceHasNoOwner", "the condition names the reason");
    await kube.objects.label(nobodys, { "headwater.dev/owner": "u_somebody" });
    await until(async () => (await ready("source", "lost", nobodys))?.status === "True", "the source is ready");
  });
});
