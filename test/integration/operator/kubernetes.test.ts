import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kinds } from "../../../crds/kinds.ts";
import { formatSigningKey } from "../../../domain/delivery/webhook-signature.ts";
import type { Condition } from "../../../crds/resource.ts";
import { startOperator, type StartedOperator } from "../../../operator/start.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { newOwner, whenever } from "../kubernetes/support.ts";
import { withWorldInCluster } from "./cluster.ts";

const kube = await withKubeApi();
const owner = newOwner();
const referable = { "headwater.dev/may-be-referenced": "true" };
const examples = join(import.meta.dirname, "../../../docs/examples/kubernetes");

kube.describe("the operator on a Kubernetes API", () => {
  const { world, onOwnerChange } = withWorldInCluster(kube, owner);
  let operator: StartedOperator;
  let namespace: string;

  beforeAll(async () => {
    namespace = await kube.namespace({ "headwater.dev/owner": owner });
    const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 4_000, externalPollMs: 1_000 };
    operator = await startOperator(config, world.ports, { onOwnerChange });
  });
  afterAll(() => operator.stop());

  const apply = (manifest: string, into = namespace): Promise<void> => kube.objects.apply(manifest, into);
  const get = async (what: string, into = namespace) => (await kube.objects.find(what, into)) as Shown | undefined; // What the operator wrote.
  const conditionOf = (shown: Shown | undefined, type = "Ready") => shown?.status?.conditions?.find((each) => each.type === type);
  const until = (what: string, reason: string, into = namespace) =>
    whenever(async () => {
      const shown = await get(what, into);
      return conditionOf(shown)?.reason === reason && shown;
    }, `${what} is ${reason}`);
  const source = (name: string, spec: object): string =>
    JSON.stringify({ apiVersion: "headwater.dev/v1alpha1", kind: "Source", metadata: { name }, spec });
  const code = (props: string, more = "") =>
    `export default { name: "T", version: "1.0.0", type: "source", props: { ${props} }, ${more} async run() {} };`;
  const hooked = code("", "hooks: { async activate() {}, async deactivate() {} },");
  const deployedOf = (shown: Shown) => world.ports.deployments.get(`default.${shown.status?.id ?? ""}`);

  it("makes every example ready, in any order of creation", async () => {
    const files = [
      "webhook",
      "listening-source",
      "errors",
      "timer-source",
      "http-source",
      "shared-component",
      "configmap-source",
      "account",
    ];
    for (const file of files) await apply(await readFile(join(examples, `${file}.yaml`), "utf8"));
    for (const name of ["heartbeat", "orders", "every-tenth", "stand-up", "page-watch", "tickets"]) {
      const ready = await until(`source ${name}`, "Deployed");
      expect(ready.status?.id).toMatch(/^dc_/);
    }
    await until("webhook receiver", "Active");
    await until("account apn-tickets", "Complete");
    for (const name of ["heartbeat-to-receiver", "heartbeat-to-every-tenth"]) {
      const routed = await until(`subscription ${name}`, "Routed");
      expect(await world.ports.routes.get(routed.status?.id ?? "")).toMatchObject({ owner, emitter: routed.status?.["emitter"] });
    }
    const auto = await until("autosubscription errors", "Subscribing");
    await whenever(async () => {
      const made = await kube.objects.list("subscriptions", namespace, `headwater.dev/auto-subscription=${auto.metadata.uid}`);
      return made.length >= 4;
    }, "errors of the sources that came after it are subscribed");
  });

  it("stores a source's code in a component that it owns, and a signing key in a Secret that the webhook owns", async () => {
    await apply(source("owns", { code: hooked }));
    const made = await until("source owns", "Deployed");
    const component = await get("component owns-code");
    expect(component?.metadata.ownerReferences).toMatchObject([{ kind: "Source", name: "owns", uid: made.metadata.uid, controller: true }]);
    const webhook = await until("webhook receiver", "Active");
    const { name = "" } = webhook.status?.signingKey?.secretKeyRef ?? {};
    expect((await get(`secret ${name}`))?.metadata.ownerReferences).toMatchObject([{ kind: "Webhook", name: "receiver" }]);
  });

  it("makes a source own its stored secrets although it cannot be deployed", async () => {
    const { token } = await world.ports.secretValues.keep({ kind: "Source", namespace, name: "refused" }, { token: "x" });
    const spec = { code: code('count: { type: "integer", max: 3 }'), props: { count: 9 }, secrets: { token } };
    await apply(source("refused", spec));
    await until("source refused", "InvalidProps");
    const stored = await get(`secret ${token?.secretKeyRef?.name}`);
    expect(stored?.metadata.ownerReferences).toMatchObject([{ kind: "Source", name: "refused" }]);
  });

  it("makes a webhook own the stored keys that it names, and deletes a key that it no longer names", async () => {
    const keep = async (byte: number) => {
      const key = formatSigningKey(new Uint8Array(32).fill(byte));
      return (await world.ports.secretValues.keep({ kind: "Webhook", namespace, name: "keyed" }, { key }))["key"];
    };
    const [first, second] = [await keep(1), await keep(2)];
    const named = (signingKeys: readonly unknown[]): string =>
      JSON.stringify({
        apiVersion: "headwater.dev/v1alpha1",
        kind: "Webhook",
        metadata: { name: "keyed" },
        spec: { url: "https://example.com/", signingKeys },
      });
    await apply(named([first]));
    await until("webhook keyed", "Active");
    const stored = await get(`secret ${first?.secretKeyRef?.name}`);
    expect(stored?.metadata.ownerReferences).toMatchObject([{ kind: "Webhook", name: "keyed" }]);
    await apply(named([second]));
    await whenever(async () => (await get(`secret ${first?.secretKeyRef?.name}`)) === undefined, "the first key is deleted");
    expect(await get(`secret ${second?.secretKeyRef?.name}`)).toBeDefined();
  });

  it("makes a webhook in deletion own a key that an earlier release left to the API", async () => {
    const key = formatSigningKey(new Uint8Array(32).fill(3));
    const kept = (await world.ports.secretValues.keep({ kind: "Webhook", namespace, name: "former" }, { key }))["key"];
    const webhook = { apiVersion: "headwater.dev/v1alpha1", kind: "Webhook", metadata: { name: "former" } };
    await apply(JSON.stringify({ ...webhook, spec: { url: "https://example.com/", signingKeys: [kept] } }));
    await until("webhook former", "Active");
    const path = `/api/v1/namespaces/${namespace}/secrets/${kept?.secretKeyRef?.name}`;
    const type = { "content-type": "application/merge-patch+json" };
    await kube.client.request("PATCH", path, { metadata: { ownerReferences: null } }, type);
    await kube.objects.delete("webhook former", namespace);
    await whenever(async () => (await get("webhook former")) === undefined, "the webhook is gone");
    const stored = await get(`secret ${kept?.secretKeyRef?.name}`);
    expect(stored?.metadata.ownerReferences).toMatchObject([{ kind: "Webhook", name: "former" }]);
  });

  it("never takes over a component that another author created", async () => {
    await apply(
      JSON.stringify({ apiVersion: "headwater.dev/v1alpha1", kind: "Component", metadata: { name: "taken-code" }, spec: { code: hooked } }),
    );
    await apply(source("taken", { code: code("") }));
    expect(conditionOf(await until("source taken", "NameTaken"))?.message).toContain("taken-code");
    expect((await get("component taken-code"))?.spec?.["code"]).toBe(hooked);
    await kube.objects.delete("component taken-code", namespace);
    await until("source taken", "Deployed");
  });

  it("reports an invalid prop and a missing Secret or ConfigMap, and deploys once they are corrected", async () => {
    await apply(source("wrong", { code: code('count: { type: "integer", max: 3 }'), props: { count: 9 } }));
    const wrong = await until("source wrong", "InvalidProps");
    expect(conditionOf(wrong)?.message).toBe("prop 'count' is invalid: 9 must be an integer of at most 3");
    expect(conditionOf(wrong, "Stalled")?.status).toBe("True");

    await apply(
      source("waits", {
        code: code('token: { type: "string", secret: true }'),
        secrets: { token: { secretKeyRef: { name: "later", key: "token" } } },
      }),
    );
    const secretLater = (token: string): string =>
      JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "later", labels: referable }, stringData: { token } });
    expect(conditionOf(await until("source waits", "SecretNotFound"))?.message).toContain("later");
    await apply(JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "later" }, stringData: { token: "12345" } }));
    // Its creator must allow it: who writes sources need not be allowed to read Secrets.
    expect(conditionOf(await until("source waits", "SecretInvalid"))?.message).toContain(
      "may not be referred to: label it headwater.dev/may-be-referenced=true",
    );
    await apply(secretLater("12345"));
    const healed = await until("source waits", "Deployed");

    const before = await deployedOf(healed);
    await apply(secretLater("54321"));
    const after = await whenever(async () => {
      const deployed = await deployedOf(healed);
      return JSON.stringify(deployed) !== JSON.stringify(before) && deployed;
    }, "a changed Secret is deployed");
    expect(after).toMatchObject({ active: true, generation: 1 });

    await apply(source("configured", { codeFrom: { configMapKeyRef: { name: "code", key: "main" } } }));
    expect(conditionOf(await until("source configured", "ConfigMapNotFound"))?.message).toContain("code");
    await apply(JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "code" }, data: { main: hooked } }));
    const first = await until("source configured", "Deployed");
    await apply(JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "code" }, data: { main: `${hooked}// 2` } }));
    await whenever(() => world.ran.get(first.status?.id ?? "")?.length === 3, "the old code is deactivated and the new one activated");
    expect(world.ran.get(first.status?.id ?? "")).toEqual(["activate 1", "deactivate 1", "activate 2"]);
  });

  it("routes a subscription once both ends exist, and deletes it with one of them", async () => {
    const subscription = { emitterRef: { kind: "Source", name: "from" }, listenerRef: { kind: "Source", name: "to" } };
    await apply(
      JSON.stringify({ apiVersion: "headwater.dev/v1alpha1", kind: "Subscription", metadata: { name: "dangling" }, spec: subscription }),
    );
    await until("subscription dangling", "EmitterNotFound");
    await apply(source("from", { code: code("") }));
    await until("subscription dangling", "ListenerNotFound");
    await apply(source("to", { code: code("") }));
    const routed = await until("subscription dangling", "Routed");
    await kube.objects.delete("source to", namespace);
    await whenever(async () => (await get("subscription dangling")) === undefined, "it is gone");
    expect(await world.ports.routes.get(routed.status?.id ?? "")).toBeUndefined();
  });

  it("keeps the previous version after a failed update, and reports it in the status and in an Event", async () => {
    await apply(source("kept", { code: code('size: { type: "integer" }', "hooks: { async activate() {} },"), props: { size: 1 } }));
    const before = await until("source kept", "Deployed");
    world.failing.add("activate");
    await apply(source("kept", { code: code('size: { type: "integer" }', "hooks: { async activate() {} },"), props: { size: 2 } }));
    const failed = await until("source kept", "UpdateFailed");
    world.failing.clear();
    expect(conditionOf(failed)?.message).toMatch(/^the update failed: hook activate failed: .+; version d_\w+ of \S+Z is still running/);
    expect(conditionOf(failed, "Stalled")?.status).toBe("True");
    expect(failed.status).toMatchObject({ observedGeneration: 2, runningGeneration: 1, running: { props: { size: 1 } } });
    expect(failed.spec).toMatchObject({ props: { size: 2 } });
    expect(await deployedOf(failed)).toMatchObject({ active: true, props: { size: 1 } });
    // The operator records the Event after it has written the status.
    await whenever(() => world.recordedEvents.includes("Source/kept UpdateFailed"), "the Event is recorded");
    await apply(source("kept", { code: code('size: { type: "integer" }', "hooks: { async activate() {} },"), props: { size: 3 } }));
    const after = await until("source kept", "Deployed");
    expect([after.status?.["running"], after.status?.["runningGeneration"]]).toEqual([undefined, 3]);
    expect(after.status?.id).toBe(before.status?.id);
  });

  it("signs with a changed key of a Secret without a change of the webhook", async () => {
    const keyOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
    const resource = (kind: string, name: string, spec: object) =>
      apply(JSON.stringify({ apiVersion: "headwater.dev/v1alpha1", kind, metadata: { name }, spec }));
    const keep = (text: string) =>
      apply(
        JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "own-key", labels: referable }, stringData: { key: text } }),
      );
    await resource("Webhook", "rotating", {
      url: "https://example.com/",
      signingKeys: [{ secretKeyRef: { name: "own-key", key: "key" } }],
    });
    await resource("Subscription", "rotating", { emitter: "dc_*", listenerRef: { kind: "Webhook", name: "rotating" } });
    await until("webhook rotating", "SigningKeyNotFound");
    await until("subscription rotating", "ListenerNotReady");
    await keep("no key");
    await until("webhook rotating", "SigningKeyInvalid");
    await keep(keyOf(1));
    await until("webhook rotating", "Active");
    const { status } = await until("subscription rotating", "Routed");
    const keys = async () => {
      const listener = (await world.ports.routes.get(status?.id ?? ""))?.listener;
      return listener?.kind === "webhook" ? Promise.all(listener.keys.map((key) => world.ports.secrets.open(key))) : [];
    };
    expect(await keys()).toEqual([keyOf(1)]);
    await keep(keyOf(2));
    await whenever(async () => (await keys())[0] === keyOf(2), "the route carries the new key");
  });

  it("reports NamespaceHasNoOwner for every kind, until the namespace is labelled", async () => {
    const unlabelled = await kube.namespace();
    await apply(source("lost", { code: code("") }), unlabelled);
    await apply(await readFile(join(examples, "webhook.yaml"), "utf8"), unlabelled);
    await apply(await readFile(join(examples, "account.yaml"), "utf8"), unlabelled);
    for (const what of ["source lost", "webhook receiver", "account apn-tickets", "subscription heartbeat-to-receiver"])
      expect(conditionOf(await until(what, "NamespaceHasNoOwner", unlabelled))?.message).toContain(unlabelled);
    await kube.objects.label(unlabelled, { "headwater.dev/owner": newOwner() });
    await until("source lost", "Deployed", unlabelled);
    await until("webhook receiver", "Active", unlabelled);
  });

  it("deletes a source whose hook no runner runs after the deadline, and records an Event", async () => {
    await apply(source("stuck", { code: hooked }));
    const { status } = await until("source stuck", "Deployed");
    world.runners.gone = true;
    await kube.objects.delete("source stuck", namespace);
    await whenever(async () => (await get("source stuck")) === undefined, "it is gone");
    world.runners.gone = false;
    expect(world.recordedEvents).toContain("Source/stuck HookSkipped");
    expect(await world.ports.deployments.get(`default.${status?.id ?? ""}`)).toBeUndefined();
  });

  it("gives a copied source its own id", async () => {
    await apply(source("original", { code: code("") }));
    const original = await until("source original", "Deployed");
    const copied = JSON.parse(source("copy", { code: code("") })) as { metadata: object };
    await apply(JSON.stringify({ ...copied, metadata: { ...copied.metadata, labels: original.metadata.labels } }));
    const copy = await until("source copy", "Deployed");
    expect(copy.status?.id).not.toBe(original.status?.id);
  });

  it("writes nothing while nothing changes", async () => {
    await whenever(() => operator.idle, "everything is settled");
    // The number of an AutoSubscription's subscriptions is counted twice a minute, so it may be written once more now.
    const namespaced = kinds.filter(({ scope, plural }) => scope !== "Cluster" && plural !== "autosubscriptions");
    const versions = async () => {
      const lists = await Promise.all(namespaced.map(({ plural }) => kube.objects.list(plural, namespace)));
      return lists.flat().map(({ metadata }) => metadata["resourceVersion"]);
    };
    const before = await versions();
    // Two polls of external state.
    const deadline = Date.now() + 2_500;
    await expect.poll(() => Date.now()).toBeGreaterThan(deadline);
    expect(await versions()).toEqual(before);
  });
});

/** A resource as stored in the API server. */
interface Shown {
  readonly metadata: {
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly id?: string;
    readonly conditions?: readonly Condition[];
    readonly signingKey?: { readonly secretKeyRef?: { readonly name: string } };
    readonly [field: string]: unknown;
  };
}
