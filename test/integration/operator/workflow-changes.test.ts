import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountKind } from "../../../crds/account.ts";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { LimitExceeded } from "../../../domain/errors.ts";
import { namespaceOfOwner, newId, resourceNameOf } from "../../../domain/ids.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { deploymentKey } from "../../../domain/subjects.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { startOperator } from "../../../operator/start.ts";
import { workflowReconciler } from "../../../operator/workflow/reconciler.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../../platform/secrets/secrets.ts";
import { until } from "../../support/until.ts";
import { lookupNow, namespace, workflowsIn } from "./workflow-support.ts";
import { withOperatorWorld } from "./world.ts";

const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const world = withOperatorWorld();
const flows = workflowsIn(world);
let operator: { stop(): Promise<void> };

beforeAll(async () => {
  operator = await startOperator(config, world.ports);
});
afterAll(() => operator.stop());

const action = (text = "a"): string => `export default { type: "action", run() { return "${text}"; } }`;
const idOf = ({ status }: WorkflowResource): string => status.id ?? "";
const sealed = async (text: string) => ({ sealed: await world.ports.secrets.seal(text) });

async function opened(workflow: WorkflowResource, pool = "default"): Promise<readonly unknown[]> {
  const secrets = await createPoolSecrets(await ensurePoolKeys(world.keysDirectory, pool));
  const { steps = [] } = (await flows.deployed(workflow, pool)) ?? {};
  return Promise.all(steps.map(async (step) => (step.secrets === null ? null : JSON.parse(await secrets.open(step.secrets)))));
}

const createAccount = async (key: string) => {
  const id = newId("account", randomBytes);
  const spec = accountKind.spec.parse({ app: "shop", credentials: { api_key: await sealed(key) } });
  return world.ports.store.create(accountKind, { namespace, name: resourceNameOf(id), labels: { [labels.id]: id }, spec });
};

describe("secrets of a step", () => {
  it("are sealed for the pool, and a changed account rewrites the current entry under the same id", async () => {
    const account = await createAccount("key-1");
    const id = account.metadata.labels[labels.id] ?? "";
    const steps = [
      {
        name: "a",
        code: `${action()} // secret account`,
        props: { shop: { authProvisionId: id } },
        secrets: { token: await sealed("t1") },
      },
      { name: "b", code: action() },
    ];
    const workflow = await flows.untilReason(await flows.create({ steps }), "Deployed");
    const before = await flows.deployed(workflow);
    expect(await opened(workflow)).toEqual([{ token: "t1", shop: { authProvisionId: id, $auth: { api_key: "key-1" } } }, null]);
    expect(JSON.stringify(before?.steps.map(({ props }) => props))).not.toContain("t1");
    const { metadata } = account;
    const current = await world.ports.store.get(accountKind, namespace, metadata.name);
    await world.ports.store.update(accountKind, { ...current, spec: { ...current.spec, credentials: { api_key: await sealed("key-2") } } });
    await until(async () => JSON.stringify(await opened(workflow)).includes("key-2"), "the entry has the new credential");
    expect((await flows.deployed(workflow))?.id).toBe(before?.id);
    expect((await flows.get(workflow.metadata.name)).status.deployment).toBe(before?.id);
  });

  it("of a deleted account are no longer used by the version that keeps running", async () => {
    const account = await createAccount("key-1");
    const id = account.metadata.labels[labels.id] ?? "";
    const steps = [{ name: "a", code: `${action()} // account`, props: { shop: { authProvisionId: id } } }];
    const workflow = await flows.untilReason(await flows.create({ steps }), "Deployed");
    expect(JSON.stringify(await opened(workflow))).toContain("key-1");
    await world.ports.store.delete(accountKind, namespace, account.metadata.name);
    await flows.untilReason(workflow, "AccountNotFound");
    expect(await opened(workflow)).toEqual([null]);
  });
});

describe("a step", () => {
  const createComponent = (code: string, key?: string) =>
    world.ports.store.create(componentKind, {
      namespace,
      name: `component-${randomBytes(4).toString("hex")}`,
      spec: { code, ...(key === undefined ? {} : { key }) },
    });

  it("follows the code of its shared component, and keeps running when that is deleted", async () => {
    const component = await createComponent(action("1"));
    const { name } = component.metadata;
    const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "a", componentRef: { name } }] }), "Deployed");
    const before = await flows.deployed(workflow);
    const current = await world.ports.store.get(componentKind, namespace, name);
    await world.ports.store.update(componentKind, { ...current, spec: { code: action("2") } });
    await until(async () => (await flows.deployed(workflow))?.id !== before?.id, "the new code is deployed");
    const after = await flows.deployed(workflow);
    expect(after?.steps[0]?.bundle).not.toBe(before?.steps[0]?.bundle);
    await flows.untilReason(workflow, "Deployed");
    await world.ports.store.delete(componentKind, namespace, name);
    const blocked = await flows.untilReason(workflow, "ComponentNotFound");
    expect(blocked.status).toMatchObject({ deployment: after?.id, active: true });
    expect(await flows.deployed(workflow)).toEqual(after);
  });

  it("runs the namespace's component with its key, and its own component goes when another is named", async () => {
    const key = `key-${randomBytes(4).toString("hex")}`;
    const component = await createComponent(`${action("keyed")} // key: "${key}"`);
    const given = { steps: [{ name: "a", componentKey: key }] };
    const workflow = await flows.untilReason(await flows.create(given), "Deployed");
    expect(workflow.status.steps).toMatchObject([{ component: component.metadata.name }]);
    await flows.change(workflow, { steps: [{ name: "a", code: action("own") }] as never });
    await flows.untilReason(workflow, "Deployed");
    expect(await flows.components(workflow)).toHaveLength(1);
    await flows.change(workflow, { steps: [{ name: "a", componentRef: { name: component.metadata.name } }] as never });
    await flows.untilReason(workflow, "Deployed");
    expect(await flows.components(workflow)).toEqual([]);
  });

  it("runs the published version that its key stands for, and keeps it until the workflow changes", async () => {
    const key = `acme-${randomBytes(4).toString("hex")}`;
    const publish = (version: string) =>
      world.publish({
        id: `sc_${key}_${version}`,
        key,
        version,
        code: `${action(version)} // key: "${key}"`,
        definition: { name: "Step", key, version, type: "action", props: [], hooks: [], hasAdditionalProps: false },
        publishedAtMs: Date.now(),
      });
    const componentOf = async ({ metadata }: WorkflowResource) =>
      (await world.ports.store.find(componentKind, namespace, `${metadata.name}-a-code`))?.spec.code;
    await publish("1.0.0");
    const steps = [{ name: "a", componentKey: key }];
    const workflow = await flows.untilReason(await flows.create({ steps }), "Deployed");
    expect(await componentOf(workflow)).toContain('return "1.0.0"');
    await publish("1.1.0");
    await flows.change(workflow, { settings: { concurrency: 3 } } as never);
    await flows.untilReason(workflow, "Deployed");
    await until(async () => (await componentOf(workflow))?.includes(`return "1.1.0"`) === true, "the step has the new version");
  });

  it("that is renamed has another id and component; the former version keeps the former id", async () => {
    const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "before", code: action() }] }), "Deployed");
    const before = await flows.deployed(workflow);
    await flows.change(workflow, { steps: [{ name: "after", code: action() }] as never });
    const changed = await flows.untilReason(workflow, "Deployed");
    expect(changed.status.steps).toMatchObject([{ name: "after", id: stepId(idOf(workflow), "after") }]);
    expect(await flows.components(workflow)).toEqual([`${workflow.metadata.name}-after-code`]);
    expect((await flows.version(workflow, before?.id ?? ""))?.steps).toMatchObject([{ id: stepId(idOf(workflow), "before") }]);
  });
});

it("refuses the source of another tenant like one that does not exist", async () => {
  const other = "u_other0000001";
  const id = newId("source", randomBytes);
  const theirs = namespaceOfOwner(other);
  await world.ports.owners.ensure(other);
  await world.ports.store.create(sourceKind, {
    namespace: theirs,
    name: resourceNameOf(id),
    labels: { [labels.id]: id },
    spec: sourceKind.spec.parse({ code: "export default {}" }),
  });
  await until(async () => (await world.ports.store.get(sourceKind, theirs, resourceNameOf(id))).status.id === id, "it has its id");
  const workflow = await flows.untilReason(await flows.create({ triggers: [{ source: id }] }), "SourceNotFound");
  expect(await flows.subscriptions(workflow)).toEqual([]);
  expect(workflow.status.conditions?.[0]?.message).toBe(
    `triggers[0]: source ${id} is not found: it does not exist, or belongs neither to the owner of this namespace nor to one of their organizations`,
  );
});

it.each<[string, (name: string, id: string) => object]>([
  ["by its id", (_, source) => ({ source })],
  ["by its name", (name) => ({ sourceRef: { name } })],
])("needs a change once a source that it names %s is deleted, and runs on in the meantime", async (_, triggerOf) => {
  const source = await world.createSource();
  const id = source.metadata.labels[labels.id] ?? "";
  const triggers = [triggerOf(source.metadata.name, id), { http: {} }];
  const created = await flows.untilReason(await flows.create({ triggers, steps: [{ name: "a", code: action() }] }), "Deployed");
  const before = await flows.deployed(created);
  await world.ports.store.delete(sourceKind, namespace, source.metadata.name);
  const blocked = await flows.untilReason(created, "SourceNotFound");
  expect(blocked.status.conditions?.find(({ type }) => type === "Stalled")).toMatchObject({
    status: "True",
    message: expect.stringMatching(/^triggers\[0\]: source .* is not found: it was deleted, .*: remove the trigger, .*is still running$/),
  });
  expect(await flows.deployed(blocked)).toEqual(before);
  await flows.change(blocked, { name: "Renamed" });
  const renamed = await flows.untilReason(blocked, "SourceNotFound");
  expect(renamed.status.conditions?.find(({ type }) => type === "Stalled")?.status).toBe("True");
  await flows.change(renamed, { triggers: [{ http: {} }] });
  await flows.untilReason(renamed, "Deployed");
  expect(await flows.deployed(renamed)).toMatchObject({ name: "Renamed" });
});

it("stays in its pool if the other one refuses its entry, and reports why", async () => {
  const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "a", code: action() }] }), "Deployed");
  await operator.stop();
  const { workflowDeployments: entries } = world.ports;
  const refusing: OperatorPorts = {
    ...world.ports,
    pools: { poolOf: () => "small" },
    workflowDeployments: {
      get: (key) => entries.get(key),
      delete: (key) => entries.delete(key),
      put: async (key, entry, options) => {
        if (key.startsWith("small.")) throw new LimitExceeded("the entry is too large");
        await entries.put(key, entry, options);
      },
    },
  };
  await workflowReconciler(config, refusing, await lookupNow(world))(keyOf(workflow), new AbortController().signal);
  const now = await flows.untilReason(workflow, "TooLarge");
  expect(now.status.pool).toBe("default");
  expect(await flows.deployed(now)).toMatchObject({ active: true });
  expect(await flows.endpoint(now)).toMatchObject({ pool: "default" });
  operator = await startOperator(config, world.ports);
});

it("moves all versions to another pool with their secrets, and leaves a redirect", async () => {
  const steps = [{ name: "a", code: `${action()} // secret`, secrets: { token: await sealed("t1") } }];
  const triggers = [{ timer: { intervalSeconds: 60 } }];
  const created = await flows.untilReason(await flows.create({ triggers, steps }), "Deployed");
  const first = await flows.deployed(created);
  await flows.change(created, { name: "Renamed" });
  const workflow = await flows.untilReason(created, "Deployed");
  const second = await flows.deployed(workflow);
  await operator.stop(); // It would move the workflow back.
  const moving: OperatorPorts = { ...world.ports, pools: { poolOf: () => "fast" } };
  await workflowReconciler(config, moving, await lookupNow(world))(keyOf(workflow), new AbortController().signal);
  expect(await flows.deployed(workflow, "fast")).toMatchObject({ id: second?.id, pool: "fast" });
  expect(await opened(workflow, "fast")).toEqual([{ token: "t1" }]);
  for (const { id = "" } of [first, second].map((entry) => entry ?? { id: "" })) {
    expect(await flows.version(workflow, id, "fast")).toMatchObject({ id, pool: "fast" });
    expect(await flows.version(workflow, id)).toBeUndefined();
  }
  const left = await world.ports.workflowDeployments.get(deploymentKey("default", idOf(workflow)));
  expect(left !== undefined && hasMoved(left) ? left.movedTo : undefined).toBe("fast");
  expect(await flows.endpoint(workflow)).toMatchObject({ pool: "fast", active: true });
  operator = await startOperator(config, world.ports);
});
