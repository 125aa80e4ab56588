import { expect, it } from "vitest";
import { sourceKind } from "../../../crds/source.ts";
import { componentReconciler } from "../../../operator/component/reconciler.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { workflowReconciler } from "../../../operator/workflow/reconciler.ts";
import type { WorkflowResource, WorkflowSpec } from "../../../crds/workflow.ts";
import { live, never, survives } from "./mortal.ts";
import { lookupNow, namespace, readyOf, workflowsIn, specOf } from "./workflow-support.ts";
import { withOperatorWorld } from "./world.ts";

const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const world = withOperatorWorld();
const flows = workflowsIn(world);
const signal = new AbortController().signal;

/** One pass of the reconcilers involved, with caches that have seen everything. */
async function pass(workflow: WorkflowResource, ports: OperatorPorts): Promise<void> {
  const reconcile = async (): Promise<void> => {
    const lookup = await lookupNow(world);
    await workflowReconciler(config, ports, lookup)(keyOf(workflow), signal);
  };
  await reconcile();
  for (const component of await flows.components(workflow)) await componentReconciler(ports)(`${namespace}/${component}`);
  await reconcile();
}

const reconcile = (workflow: WorkflowResource, dieAt: number): Promise<boolean> =>
  live(world.ports, dieAt, (ports) => pass(workflow, ports));

const action = (text: string): string => `export default { type: "action", run() { return "${text}"; } }`;

async function specWith(text: string, intervals: readonly number[]): Promise<WorkflowSpec> {
  const source = (await world.ports.store.list(sourceKind, { namespace })).items[0] ?? (await world.createSource());
  const timers = intervals.map((intervalSeconds) => ({ timer: { intervalSeconds } }));
  return specOf({
    triggers: [{ http: {} }, { source: source.metadata.labels["headwater.dev/id"] ?? "" }, ...timers],
    steps: [{ name: "a", code: action(text) }],
  });
}

const outcomeOf = async (workflow: WorkflowResource) => {
  const now = await flows.get(workflow.metadata.name);
  const deployed = await flows.deployed(now);
  return {
    ready: readyOf(now),
    deployed,
    version: deployed === undefined ? undefined : await flows.version(now, deployed.id),
    endpoint: await flows.endpoint(now),
    subscriptions: (await flows.subscriptions(now)).length,
    components: (await flows.components(now)).length,
    timers: (await world.timers(now.status.id ?? "")).length,
    kept: [...(await world.ports.workflowVersions.list(`${now.status.id}.*`)).values()],
  };
};

it("deploys a workflow completely after the operator was killed between any two steps", async () => {
  const steps = await survives(async (dieAt) => {
    const workflow = await flows.create(await specWith("1", [60]));
    const died = await reconcile(workflow, dieAt);
    const outcome = await outcomeOf(workflow);
    expect(outcome).toMatchObject({
      ready: { status: "True", reason: "Deployed" },
      deployed: { generation: 1, active: true },
      endpoint: { active: true, workflow: { hasHttpTrigger: true } },
      subscriptions: 1,
      components: 1,
      timers: 1,
    });
    expect(outcome.version).toEqual(outcome.deployed);
    return died;
  });
  expect(steps).toBeGreaterThan(10);
});

it("updates a workflow completely after a kill, with the key of its resume URLs and one current version", async () => {
  await survives(async (dieAt) => {
    const workflow = await flows.create(await specWith("1", [60, 90]));
    await reconcile(workflow, never);
    const before = await outcomeOf(workflow);
    await flows.change(workflow, await specWith("2", [120]));
    const died = await reconcile(workflow, dieAt);
    const after = await outcomeOf(workflow);
    expect(after).toMatchObject({
      ready: { status: "True", reason: "Deployed", observedGeneration: 2 },
      deployed: { generation: 2 },
      subscriptions: 1,
      timers: 1,
    });
    expect(after.endpoint).toEqual(before.endpoint);
    expect(after.kept.filter(({ replacedAt }) => replacedAt === undefined)).toMatchObject([{ deployment: after.deployed?.id }]);
    expect(await flows.version(await flows.get(workflow.metadata.name), before.deployed?.id ?? "")).toEqual(before.deployed);
    return died;
  });
});

it("deletes a workflow and everything made for it after a kill", async () => {
  await survives(async (dieAt) => {
    const workflow = await flows.create(await specWith("1", [60]));
    await reconcile(workflow, never);
    const ready = await flows.get(workflow.metadata.name);
    const { deployed } = await outcomeOf(workflow);
    await flows.remove(workflow.metadata.name);
    const died = await reconcile(workflow, dieAt);
    expect(await flows.find(workflow.metadata.name)).toBeUndefined();
    expect([await flows.deployed(ready), await flows.version(ready, deployed?.id ?? ""), await flows.endpoint(ready)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([await flows.components(ready), await world.timers(ready.status.id ?? "")]).toEqual([[], []]);
    expect((await world.ports.workflowVersions.list(`${ready.status.id}.*`)).size).toBe(0);
    return died;
  });
});
