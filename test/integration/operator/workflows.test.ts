import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { finalizer, labels } from "../../../crds/resource.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import { filesAddress } from "../../../domain/files/file-url.ts";
import { defaultWorkflowSettings } from "../../../domain/workflow/deployment.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { startOperator } from "../../../operator/start.ts";
import { until } from "../../support/until.ts";
import { namespace, workflowsIn } from "./workflow-support.ts";
import { withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const flows = workflowsIn(world);
let operator: { stop(): Promise<void> };

beforeAll(async () => {
  operator = await startOperator({ ingressUrl: "http://ingress.test", emailDomain: "in.test", hookTimeoutMs: 20_000 }, world.ports);
});
afterAll(() => operator.stop());

const action = (text = "a"): string => `export default { type: "action", run() { return "${text}"; } }`;
const idOf = ({ status }: WorkflowResource): string => status.id ?? "";

async function routeTo(workflow: WorkflowResource) {
  const [made] = await flows.subscriptions(workflow);
  return made?.status.id === undefined ? undefined : world.ports.routes.get(made.status.id);
}

describe("a workflow with steps of code", () => {
  it("is deployed with a component, an id and a bundle for each step", async () => {
    const created = await flows.create({
      triggers: [{ http: {} }],
      steps: [
        { name: "first", code: action("1"), props: { text: "x", count: 2 } },
        { name: "Second", code: action("2"), retries: 3, timeoutSeconds: 20, continueOnError: true },
      ],
    });
    const workflow = await flows.untilReason(created, "Deployed");
    const [first, second] = await Promise.all(
      (workflow.status.steps ?? []).map(({ component = "" }) => world.ports.store.get(componentKind, namespace, component)),
    );
    expect((await flows.components(workflow)).toSorted()).toEqual([first?.metadata.name, second?.metadata.name].toSorted());
    const deployed = await flows.deployed(workflow);
    expect(deployed).toMatchObject({
      workflow: idOf(workflow),
      owner: "u_tester000001",
      pool: "default",
      name: workflow.metadata.name,
      id: workflow.status.deployment,
      generation: 1,
      active: true,
      settings: defaultWorkflowSettings,
      endpoint: `http://ingress.test/${workflow.status.endpointKey}`,
      steps: [
        {
          id: stepId(idOf(workflow), "first"),
          name: "first",
          bundle: first?.status.build?.bundle,
          props: { text: "x", count: 2 },
          secrets: null,
          continueOnError: false,
          retries: 0,
          timeoutMs: null,
        },
        { id: stepId(idOf(workflow), "Second"), name: "Second", retries: 3, timeoutMs: 20_000, continueOnError: true },
      ],
    });
    expect(await flows.version(workflow, deployed?.id ?? "")).toEqual(deployed);
    expect(workflow.status).toMatchObject({
      active: true,
      pool: "default",
      endpoint: deployed?.endpoint,
      steps: [{ name: "first", id: deployed?.steps[0]?.id }, { name: "Second" }],
    });
    expect(workflow.metadata).toMatchObject({ finalizers: [finalizer], labels: { [labels.id]: idOf(workflow) } });
  });

  it("has an endpoint with a key for resume URLs, which stays the same over updates, also without an HTTP trigger", async () => {
    const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "a", code: action() }] }), "Deployed");
    const before = await flows.endpoint(workflow);
    expect(before).toMatchObject({ source: idOf(workflow), active: true, customResponse: false, workflow: { hasHttpTrigger: false } });
    expect(before?.workflow?.resumeKey).toMatch(/^[\w-]{43}$/);
    await flows.change(workflow, { triggers: [{ http: {} }] });
    await flows.untilReason(workflow, "Deployed");
    expect(await flows.endpoint(workflow)).toEqual({ ...before, workflow: { ...before?.workflow, hasHttpTrigger: true } });
    const entry = await flows.deployed(workflow);
    expect(entry?.resumeKey).not.toBe(before?.workflow?.resumeKey);
  });

  it("has an address for its files, which starts no run, moves with the key of its URLs, and ends with the workflow", async () => {
    const workflow = await flows.untilReason(
      await flows.create({ triggers: [{ http: {} }], steps: [{ name: "a", code: action() }] }),
      "Deployed",
    );
    const entry = async () => (await world.ports.endpoints.get(filesAddress(idOf(workflow)))) ?? null;
    const endpoint = await flows.endpoint(workflow);
    const { resumeKey } = endpoint?.workflow ?? {};
    const desired = { ...endpoint, active: false, customResponse: false, workflow: { hasHttpTrigger: false, resumeKey } };
    expect(await entry()).toEqual(desired);
    // As after an update from a version without it.
    await world.ports.endpoints.delete(filesAddress(idOf(workflow)));
    await flows.change(workflow, { active: false });
    await flows.untilReason(workflow, "Inactive");
    expect(await entry()).toEqual(desired);
    await flows.remove(workflow.metadata.name);
    await until(async () => (await flows.find(workflow.metadata.name)) === undefined, "it is deleted");
    expect(await entry()).toBe(null);
  });

  it.each<[string, object, string, boolean]>([
    ["a step's code calls $.respond", {}, "$ .respond({ status: 200 })", true],
    ["no step's code calls $.respond", {}, "respond()", false],
    ["its HTTP trigger says so", { customResponse: true }, "", true],
    ["its HTTP trigger says no", { customResponse: false }, "$.respond()", false],
  ])("lets the caller wait for a response as needed: %s", async (_, http, call, customResponse) => {
    const code = `export default { type: "action", run({ $ }) { ${call} } }`;
    const workflow = await flows.untilReason(await flows.create({ triggers: [{ http }], steps: [{ name: "a", code }] }), "Deployed");
    expect(await flows.endpoint(workflow)).toMatchObject({ customResponse });
  });

  it("gets a version for each change, and the previous one is kept for runs that began on it", async () => {
    const created = await flows.untilReason(await flows.create({ steps: [{ name: "a", code: action("1") }] }), "Deployed");
    const first = await flows.deployed(created);
    await flows.change(created, { steps: [{ ...created.spec.steps[0], name: "a", code: action("2") }] as never });
    const changed = await flows.untilReason(created, "Deployed");
    const second = await flows.deployed(changed);
    expect(second?.id).not.toBe(first?.id);
    expect(second?.steps[0]?.bundle).not.toBe(first?.steps[0]?.bundle);
    expect(await flows.version(changed, first?.id ?? "")).toEqual(first);
    expect(await flows.version(changed, second?.id ?? "")).toEqual(second);
  });

  it("has a route entry of its own, which says whether it is active, and which ends with it", async () => {
    const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "a", code: action() }] }, "routed"), "Deployed");
    const id = idOf(workflow);
    const base = { subscription: id, owner: "u_tester000001", emitter: id, channel: "" };
    expect(await world.ports.routes.get(id)).toEqual({ ...base, listener: { kind: "workflow", id, pool: "default" } });
    await flows.change(workflow, { active: false });
    await flows.untilReason(workflow, "Inactive");
    expect(await world.ports.routes.get(id)).toEqual({ ...base, listener: { kind: "workflow", id, runsIn: "default" } });
    await flows.remove("routed");
    await until(async () => (await flows.find("routed")) === undefined, "it is gone");
    expect(await world.ports.routes.get(id)).toBeUndefined();
  });

  it("is deleted with its entries, components, timers and queue, and no other queue", async () => {
    const given = { triggers: [{ timer: { intervalSeconds: 3_600 } }], steps: [{ name: "a", code: action() }] };
    const [ended, kept] = await Promise.all(
      ["ended", "kept"].map(async (name) => flows.untilReason(await flows.create(given, name), "Deployed")),
    );
    if (ended === undefined || kept === undefined) throw new Error("they are created");
    for (const workflow of [ended, ended, kept]) await world.queues.add(idOf(workflow));
    const { deployment = "" } = ended.status;
    await flows.remove("ended");
    await until(async () => (await flows.find("ended")) === undefined, "it is gone");
    expect([await flows.deployed(ended), await flows.version(ended, deployment), await flows.endpoint(ended)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await flows.components(ended)).toEqual([]);
    expect([await world.timers(idOf(ended)), await world.timers(idOf(kept))]).toEqual([[], [`timer.${idOf(kept)}.timer-0`]]);
    expect([await world.queues.length(idOf(ended)), await world.queues.length(idOf(kept))]).toEqual([0, 1]);
  });
});

describe("a workflow with control flow", () => {
  const code = "export default { type: 'action', name: 'A', version: '1.0.0', run() {} };";

  it("is deployed as the flat list of its steps", async () => {
    const steps = [
      { name: "each", forEach: "{{ [1, 2] }}", steps: [{ name: "act", code }], maxItems: 7 },
      { name: "check", if: "{{ steps.each.$results }}", then: [{ name: "yes", code }], else: [{ name: "no", code }] },
    ];
    const workflow = await flows.untilReason(await flows.create({ steps }), "Deployed");
    expect((await flows.deployed(workflow))?.steps.map(({ name, control }) => [name, control])).toEqual([
      ["each", { kind: "each", parts: [{ name: "item", from: 1, to: 2 }], end: 2, as: "item", max: 7 }],
      ["act", undefined],
      [
        "check",
        {
          kind: "choice",
          parts: [
            { name: "then", from: 3, to: 4 },
            { name: "else", from: 4, to: 5 },
          ],
          end: 5,
        },
      ],
      ["yes", undefined],
      ["no", undefined],
    ]);
  });

  it("is refused with the path of each mistake", async () => {
    const steps = [{ name: "check", if: "yes", then: [{ name: "check", code }] }];
    const { status } = await flows.untilReason(await flows.create({ steps }), "InvalidStep");
    const message = status.conditions?.find(({ type }) => type === "Ready")?.message;
    expect(message).toContain("steps[0].if: step 'check': if must be one expression");
    expect(message).toContain("steps[0].then[0].name: step 'check' occurs twice");
  });
});

describe("triggers of a workflow", () => {
  it("set timers by the index of the trigger, and remove those that are gone or switched off", async () => {
    const timers = [{ timer: { intervalSeconds: 60 } }, { timer: { cron: "0 9 * * *", timezone: "Europe/Berlin" } }];
    const workflow = await flows.untilReason(await flows.create({ triggers: timers }), "Deployed");
    const names = async (): Promise<readonly string[]> => (await world.timers(idOf(workflow))).toSorted();
    expect(await names()).toEqual([0, 1].map((index) => `timer.${idOf(workflow)}.timer-${index}`));
    expect((await flows.deployed(workflow))?.timers).toEqual({
      "timer-0": { kind: "interval", intervalSeconds: 60 },
      "timer-1": { kind: "cron", cron: "0 9 * * *", timezone: "Europe/Berlin" },
    });
    await flows.change(workflow, { triggers: [{ timer: { intervalSeconds: 60 } }] });
    await flows.untilReason(workflow, "Deployed");
    expect(await names()).toEqual([`timer.${idOf(workflow)}.timer-0`]);
    await flows.change(workflow, { active: false });
    await flows.untilReason(workflow, "Inactive");
    expect(await names()).toEqual([]);
    expect([await flows.deployed(workflow), await flows.endpoint(workflow)]).toMatchObject([{ active: false }, { active: false }]);
  });

  it("give the workflow an address for emails, which stays when the trigger comes back, and ends with the workflow", async () => {
    const workflow = await flows.untilReason(await flows.create({ triggers: [{ email: {} }] }), "Deployed");
    const { emailKey = "", email, endpointKey } = (await flows.get(workflow.metadata.name)).status;
    expect([email, emailKey === endpointKey]).toEqual([`${emailKey}@in.test`, false]);
    expect(emailKey).toMatch(/^[0-9a-z]{32}$/);
    const entry = async () => (await world.ports.endpoints.get(emailKey)) ?? null;
    expect(await entry()).toMatchObject({
      source: idOf(workflow),
      active: true,
      workflow: { hasHttpTrigger: false, hasEmailTrigger: true },
    });
    expect((await flows.endpoint(workflow))?.workflow).not.toHaveProperty("hasEmailTrigger");
    await flows.change(workflow, { triggers: [] });
    await flows.untilReason(workflow, "Deployed");
    expect(await entry()).toMatchObject({ workflow: { hasEmailTrigger: false } });
    expect((await flows.get(workflow.metadata.name)).status.email).toBe(undefined);
    await flows.change(workflow, { triggers: [{ email: {} }], active: false });
    await flows.untilReason(workflow, "Inactive");
    expect(await entry()).toMatchObject({ active: false, workflow: { hasEmailTrigger: true } });
    expect((await flows.get(workflow.metadata.name)).status.email).toBe(email);
    await flows.remove(workflow.metadata.name);
    await until(async () => (await flows.find(workflow.metadata.name)) === undefined, "it is deleted");
    expect(await entry()).toBe(null);
  });

  it("know since when the workflow has been off, until a version follows the one that switches it on", async () => {
    const timer = { cron: "0 9 * * *", jitterSeconds: 5, overlap: "skip" as const, catchUp: 2 };
    const workflow = await flows.untilReason(await flows.create({ triggers: [{ timer }] }), "Deployed");
    const offSince = async (change: object, reason: string): Promise<number | undefined> => {
      await flows.change(workflow, change);
      await flows.untilReason(workflow, reason);
      return (await flows.deployed(workflow))?.offSince;
    };
    const since = await offSince({ active: false }, "Inactive");
    expect(since).toBeGreaterThan(Date.now() - 600_000);
    expect(await offSince({ name: "Renamed" }, "Inactive")).toBe(since);
    expect(await offSince({ active: true }, "Deployed")).toBe(since);
    expect(await world.timers(idOf(workflow))).toHaveLength(1);
    expect(await offSince({ name: "Again" }, "Deployed")).toBeUndefined();
    expect((await flows.deployed(workflow))?.timers?.["timer-0"]).toEqual({ kind: "cron", timezone: "UTC", ...timer });
  });

  it("subscribe the workflow to sources, whose events go to its pool while it is active and wait otherwise", async () => {
    const source = await world.createSource();
    const id = source.metadata.labels[labels.id] ?? "";
    const workflow = await flows.untilReason(
      await flows.create({ triggers: [{ source: id }, { sourceRef: { name: source.metadata.name } }] }),
      "Deployed",
    );
    expect(await flows.subscriptions(workflow)).toMatchObject([{ spec: { emitter: id, listener: idOf(workflow), channel: "" } }]);
    const listener = { kind: "workflow", id: idOf(workflow) };
    const isRoutedTo = (pool: string | undefined) => async (): Promise<boolean> => {
      const route = await routeTo(workflow);
      return route?.listener.kind === "workflow" && route.listener.pool === pool;
    };
    await until(isRoutedTo("default"), "it is routed to the pool");
    expect((await routeTo(workflow))?.listener).toEqual({ ...listener, pool: "default" });
    await flows.change(workflow, { active: false });
    await until(isRoutedTo(undefined), "its events wait");
    await flows.change(workflow, { triggers: [] });
    await until(async () => (await flows.subscriptions(workflow)).length === 0, "the subscription ends with the trigger");
  });

  it("make a Subscription again that a user has deleted or changed", async () => {
    const source = await world.createSource();
    const workflow = await flows.untilReason(await flows.create({ triggers: [{ sourceRef: { name: source.metadata.name } }] }), "Deployed");
    const [made] = await flows.subscriptions(workflow);
    await world.ports.store.delete(subscriptionKind, namespace, made?.metadata.name ?? "");
    const again = async (): Promise<boolean> => {
      const [now] = await flows.subscriptions(workflow);
      return now !== undefined && now.metadata.uid !== made?.metadata.uid && now.metadata.deletionTimestamp === undefined;
    };
    await until(again, "it is made again");
  });

  it("use a Subscription of the same ends that exists already, and make their own when that is deleted", async () => {
    const { store } = world.ports;
    const source = await world.createSource();
    const id = source.metadata.labels[labels.id] ?? "";
    const workflow = await flows.untilReason(await flows.create({}), "Deployed");
    const subscribe = (name: string, channel = "") =>
      store.create(subscriptionKind, { namespace, name, spec: { emitter: id, listener: idOf(workflow), channel } });
    const byUser = `${workflow.metadata.name}-by-user`;
    await subscribe(byUser);
    await subscribe(`${byUser}-errors`, "$errors");
    await flows.change(workflow, { triggers: [{ source: id }] });
    await flows.untilReason(workflow, "Deployed");
    // The operator may hear of the trigger before it hears of the user's Subscription.
    await until(async () => (await flows.subscriptions(workflow)).length === 0, "the trigger uses the user's Subscription");
    await store.delete(subscriptionKind, namespace, byUser);
    await until(async () => (await flows.subscriptions(workflow)).length === 1, "the trigger has a Subscription of its own");
    await subscribe(`${byUser}-again`);
    await until(async () => (await flows.subscriptions(workflow)).length === 0, "one of the two ends");
  });

  it.each([
    ["InvalidTrigger", { timer: { cron: "61 * * * *" } }, "triggers[0].timer: "],
    ["InvalidTrigger", { timer: {} }, "triggers[0].timer: "],
    ["SourceNotFound", { source: "dc_none" }, "triggers[0]: source dc_none is not found"],
    ["SourceNotFound", { sourceRef: { name: "none" } }, "triggers[0]: source none is not found"],
  ])("are refused with %s: %o", async (reason, trigger, message) => {
    const workflow = await flows.untilReason(await flows.create({ triggers: [trigger] }), reason);
    expect(workflow.status.conditions?.[0]?.message).toContain(message);
    expect(await flows.deployed(workflow)).toBeUndefined();
  });
});

describe("a spec that cannot be deployed", () => {
  it.each<[string, object, string]>([
    ["ComponentFailed", { code: `${action()} broken` }, "step 'a': code: component "],
    ["CodeInvalid", { code: `${action()} // ${"é".repeat(600_000)}` }, "step 'a': code: the code and its files have 12000"],
    ["ComponentNotFound", { componentRef: { name: "none" } }, "step 'a': componentRef: component none does not exist"],
    ["ComponentNotFound", { componentKey: "none" }, "step 'a': componentKey: no component with the key 'none'"],
    ["ComponentIsNoAction", { code: "export default {}" }, "is a source: a step runs an action"],
    ["InvalidProps", { code: action(), props: { count: "many" } }, "step 'a': props: prop 'count' is invalid"],
    ["InvalidProps", { code: action(), props: { other: 1 } }, "step 'a': props: prop 'other' is unknown"],
    ["InvalidProps", { code: action(), props: { text: `{{ 1 }}${"x".repeat(70_000)}` } }, "prop 'text' has 70007 bytes"],
    ["InvalidProps", { code: `${action()} // secret` }, "step 'a': props: prop 'token' is missing"],
    ["InvalidExpression", { code: action(), props: { text: "{{ steps.b.x }}" } }, "step 'a', prop 'text': {{ steps.b.x }} reads steps.b"],
    ["InvalidExpression", { code: action(), props: { text: "{{ 1 + }}" } }, "step 'a', prop 'text': {{ 1 + }} is no JavaScript expression"],
  ])("reports %s for %o", async (reason, step, message) => {
    const workflow = await flows.untilReason(await flows.create({ steps: [{ name: "a", ...step }] as never }), reason);
    expect(workflow.status.conditions?.[0]?.message).toContain(message);
    expect(workflow.status.id).toMatch(/^p_/);
    expect(await flows.deployed(workflow)).toBeUndefined();
  });

  it("names all steps with problems", async () => {
    const steps = ["a", "b"].map((name) => ({ name, componentRef: { name: `none-${name}` } }));
    const workflow = await flows.untilReason(await flows.create({ steps }), "ComponentNotFound");
    expect(workflow.status.conditions?.[0]?.message).toMatch(/step 'a': .*; step 'b': /);
  });

  it("leaves the previous version running, switched on and off by the spec, until it is corrected", async () => {
    const good = { name: "a", code: action() };
    const created = await flows.untilReason(
      await flows.create({ triggers: [{ timer: { intervalSeconds: 60 } }], steps: [good] }),
      "Deployed",
    );
    const first = await flows.deployed(created);
    await flows.change(created, { steps: [{ ...created.spec.steps[0], props: { count: "x" } }] as never });
    const blocked = await flows.untilReason(created, "InvalidProps");
    expect(blocked.status).toMatchObject({ deployment: first?.id, active: true });
    expect(blocked.status.conditions?.[0]?.message).toContain(`version ${first?.id} of `);
    expect(await flows.deployed(created)).toEqual(first);
    await flows.change(created, { active: false });
    await until(async () => (await flows.get(created.metadata.name)).status.active === false, "it is switched off");
    expect(await flows.deployed(created)).toMatchObject({ id: first?.id, active: false });
    expect(await world.timers(idOf(blocked))).toEqual([]);
    await flows.change(created, { active: true, steps: created.spec.steps });
    await flows.untilReason(created, "Deployed");
    expect(await world.timers(idOf(blocked))).toHaveLength(1);
  });

  it("accepts expressions for props of any type", async () => {
    const steps = [{ name: "a", code: action(), props: { count: "{{ steps.trigger.event.count }}", text: "{{ 1 }} and 2" } }];
    const workflow = await flows.untilReason(await flows.create({ steps }), "Deployed");
    expect((await flows.deployed(workflow))?.steps[0]?.props).toEqual(steps[0]?.props);
  });
});
