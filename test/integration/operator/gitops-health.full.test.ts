import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../../crds/kinds.ts";
import { apiVersion } from "../../../crds/resource.ts";
import { startOperator, type StartedOperator } from "../../../operator/start.ts";
import { argoHealthOf, kstatusOf, toolVerdictsOf, type ToolVerdicts } from "../../support/gitops-health.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { newOwner, whenever } from "../kubernetes/support.ts";
import { withWorldInCluster } from "./cluster.ts";

/**
 * What Flux (kstatus) and Argo CD (the check of docs/kubernetes.md) make of each kind in a namespace, as stored by an API server.
 * test/integration/kubernetes/runner-pools.test.ts shows the same for RunnerPools.
 */
const kube = await withKubeApi();
const owner = newOwner();
const examples = join(import.meta.dirname, "../../../docs/examples/kubernetes");
const shown = z.object({ status: z.object({ conditions: z.array(z.object({ message: z.string() })).default([]) }).prefault({}) });

kube.describe("GitOps tools", () => {
  const { world, onOwnerChange } = withWorldInCluster(kube, owner);
  let operator: StartedOperator | undefined;
  let namespace: string;

  beforeAll(async () => {
    namespace = await kube.namespace({ "headwater.dev/owner": owner });
    for (const file of ["webhook", "timer-source", "errors", "shared-component", "account"])
      await kube.objects.apply(await readFile(join(examples, `${file}.yaml`), "utf8"), namespace);
    await apply("App", "tickets", { slug: "tickets", name: "Tickets", auth: "none" });
    await apply("OAuthClient", "tickets", { app: "tickets", clientId: "c" });
    await apply("DataStore", "counters", { name: "Counters" });
    await apply("Variable", "region", { name: "REGION", value: "eu" });
    await apply("Workflow", "flow", { triggers: [{ http: {} }], steps: [{ name: "one", code: action }] });
  });
  afterAll(() => stop());

  const start = async (): Promise<void> => {
    const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 4_000, externalPollMs: 1_000 };
    operator = await startOperator(config, world.ports, { onOwnerChange });
  };
  const stop = async (): Promise<void> => {
    await operator?.stop();
    operator = undefined;
  };
  const apply = (kind: string, name: string, spec: object): Promise<void> =>
    kube.objects.apply(JSON.stringify({ apiVersion, kind, metadata: { name }, spec }), namespace);

  /** One of each kind, with both verdicts. */
  const oneOfEach = [
    "component reminder",
    "source heartbeat",
    "subscription heartbeat-to-receiver",
    "autosubscription errors",
    "webhook receiver",
    "workflow flow",
    "account apn-tickets",
    "app tickets",
    "oauthclient tickets",
    "variable region",
    "datastore counters",
  ];
  const verdict = async (what: string): Promise<ToolVerdicts> => toolVerdictsOf(await kube.objects.find(what, namespace));
  const verdicts = async (names: readonly string[]) =>
    Object.fromEntries(await Promise.all(names.map(async (what) => [what, await verdict(what)])));
  const all = (names: readonly string[], each: ToolVerdicts) => Object.fromEntries(names.map((what) => [what, each]));
  const expectEach = (names: readonly string[], each: ToolVerdicts) => expect.poll(() => verdicts(names)).toEqual(all(names, each));

  it("cover every kind", () => {
    const covered = [...oneOfEach.map((what) => what.split(" ")[0]), "runnerpool"];
    expect(covered.toSorted()).toEqual(kinds.map(({ kind }) => kind.toLowerCase()).toSorted());
  });

  it("wait for new resources until the operator has seen them", async () => {
    expect(await verdicts(oneOfEach)).toEqual(all(oneOfEach, ["InProgress", "Progressing"]));
  });

  it("go on when the operator has made them ready", async () => {
    await start();
    await expectEach(oneOfEach, ["Current", "Healthy"]);
  });

  it("wait while a resource waits for another, and go on once it is there", async () => {
    await apply("Subscription", "early", {
      emitterRef: { kind: "Source", name: "late" },
      listenerRef: { kind: "Webhook", name: "receiver" },
    });
    await expectEach(["subscription early"], ["InProgress", "Progressing"]);
    await apply("Source", "late", { code: source });
    await expectEach(["subscription early", "source late"], ["Current", "Healthy"]);
  });

  it("fail when a resource needs a change, with the message of its condition, and go on after the change", async () => {
    const broken = ["component broken", "source broken", "subscription broken", "webhook broken", "workflow broken"];
    await apply("Component", "broken", { code: "export default {" });
    await apply("Source", "broken", { code: source, props: { count: 9 } });
    await apply("Webhook", "broken", { url: "http://127.0.0.1/" });
    await apply("Subscription", "broken", {
      emitterRef: { kind: "Source", name: "late" },
      listenerRef: { kind: "Webhook", name: "broken" },
    });
    await apply("Workflow", "broken", { triggers: [{ http: {} }], steps: [{ name: "one", code: action, props: { count: 9 } }] });
    await expectEach(broken, ["Failed", "Degraded"]);
    for (const what of broken) {
      const object = await kube.objects.find(what, namespace);
      expect((await argoHealthOf(object)).message).toBe(shown.parse(object).status.conditions[0]?.message);
    }
    await apply("Source", "broken", { code: source, props: { count: 2 } });
    await apply("Webhook", "broken", { url: "https://example.com/" });
    await expectEach(["source broken", "webhook broken", "subscription broken"], ["Current", "Healthy"]);
  });

  it("wait for a changed resource although its last version is ready, and for one that is being deleted", async () => {
    await expectEach(["source late"], ["Current", "Healthy"]);
    await stop();
    await apply("Source", "late", { code: source, props: { count: 3 } });
    await kube.objects.delete("source heartbeat", namespace);
    expect(await verdicts(["source late"])).toEqual(all(["source late"], ["InProgress", "Progressing"]));
    // Argo CD waits for each object with a deletionTimestamp without asking the check.
    expect(kstatusOf(await kube.objects.find("source heartbeat", namespace))).toBe("Terminating");
    await start();
    await expectEach(["source late"], ["Current", "Healthy"]);
    await whenever(async () => (await kube.objects.find("source heartbeat", namespace)) === undefined, "it is gone");
  });
});

const source =
  'export default { name: "T", version: "1.0.0", type: "source", props: { count: { type: "integer", max: 3, optional: true } }, async run() {} };';
const action =
  'export default { name: "A", version: "1.0.0", type: "action", props: { count: { type: "integer", max: 3, optional: true } }, run() {} };';
