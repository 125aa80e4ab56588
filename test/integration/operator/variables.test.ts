import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { variableKind, type VariableResource, type VariableSpec } from "../../../crds/variable.ts";
import { AppLibrary } from "../../../crds/app-library.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { defaultPool, deploymentKey } from "../../../domain/subjects.ts";
import { variableLimits, type VariableValues } from "../../../domain/variable/variable.ts";
import { startOperator } from "../../../operator/start.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../../platform/secrets/secrets.ts";
import { until } from "../../support/until.ts";
import { namespace, workflowsIn } from "./workflow-support.ts";
import { owner, withOperatorWorld } from "./world.ts";

/** The operator publishes variables for runners, and reports on each of them. */
const world = withOperatorWorld();
const flows = workflowsIn(world);
let operator: { stop(): Promise<void> };

beforeAll(async () => {
  const { store } = world.ports;
  const apps = new AppLibrary({ store, builtIn: new Map(), sharedNamespace: async () => sharedNamespace });
  operator = await startOperator({ ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 }, { ...world.ports, apps });
});
afterAll(() => operator.stop());

const sharedNamespace = namespaceOfOwner("o_shared");
const newName = (): string => `V${randomBytes(6).toString("hex")}`;
const create = (spec: VariableSpec, name = `variable-${randomBytes(6).toString("hex")}`): Promise<VariableResource> =>
  world.ports.store.create(variableKind, { namespace, name, spec });

async function published(): Promise<VariableValues> {
  const entry = await world.ports.variableEntries.get(deploymentKey(defaultPool, owner));
  if (entry === undefined) return {};
  const secrets = await createPoolSecrets(await ensurePoolKeys(world.keysDirectory, defaultPool));
  return JSON.parse(await secrets.open(entry.variables)) as VariableValues;
}

async function untilReason({ metadata }: VariableResource, reason: string): Promise<VariableResource> {
  let found: VariableResource | undefined;
  await until(async () => {
    found = await world.ports.store.find(variableKind, namespace, metadata.name);
    return found?.status.conditions?.some((each) => each.type === "Ready" && each.reason === reason) === true;
  }, `the variable is ${reason}`);
  if (found === undefined) throw new Error("deleted");
  return found;
}

describe("a Variable", () => {
  it("is in the entry of its owner once it is ready, and no longer once it is gone", async () => {
    const name = newName();
    const variable = await untilReason(await create({ name, value: "one" }), "Set");
    expect((await published())[name]).toEqual({ value: "one", isSecret: false });
    expect(variable.status).toMatchObject({ id: expect.stringMatching(/^var_/), bytes: 3 });
    const changed = await world.ports.store.update(variableKind, { ...variable, spec: { name, value: "two" } });
    await until(async () => (await published())[name]?.value === "two", "the change is published");
    await world.ports.store.delete(variableKind, namespace, changed.metadata.name);
    await until(async () => (await world.ports.store.find(variableKind, namespace, changed.metadata.name)) === undefined, "it ends");
    expect((await published())[name]).toBeUndefined();
  });

  it("holds a secret, which the entry contains only sealed", async () => {
    const name = newName();
    const holder = { kind: variableKind.kind, namespace, name: "a-secret-variable" };
    const { value } = await world.ports.secretValues.keep(holder, { value: "hush-hush" });
    if (value === undefined) throw new Error("not kept");
    await untilReason(await create({ name, valueFrom: value }, holder.name), "Set");
    expect((await published())[name]).toEqual({ value: "hush-hush", isSecret: true });
    const entry = await world.ports.variableEntries.get(deploymentKey(defaultPool, owner));
    expect(JSON.stringify(entry)).not.toContain("hush-hush");
  });

  it("does not count if an older one has its name, until that is deleted", async () => {
    const name = newName();
    const first = await untilReason(await create({ name, value: "first" }), "Set");
    const second = await untilReason(await create({ name, value: "second" }), "NameTaken");
    expect((await published())[name]?.value).toBe("first");
    await world.ports.store.delete(variableKind, namespace, first.metadata.name);
    await until(async () => (await published())[name]?.value === "second", "the younger one counts");
    await untilReason(second, "Set");
  });

  it("does not count beyond the bytes of an owner, nor as a shared one of an owner who does not have those", async () => {
    const half = variableLimits.valueBytes;
    const [a, b, c] = [
      await create({ name: newName(), value: "a".repeat(half) }),
      await create({ name: newName(), value: "b".repeat(half) }),
      await create({ name: newName(), value: "c".repeat(half) }),
    ];
    for (const each of [a, b, c]) await untilReason(each, "Set");
    await untilReason(await create({ name: newName(), value: "d".repeat(half) }), "LimitExceeded");
    for (const { metadata } of [a, b, c]) await world.ports.store.delete(variableKind, namespace, metadata.name);
    await untilReason(await create({ name: newName(), value: "x", shared: true }), "NotShared");
  });
});

describe("a shared Variable", () => {
  it("counts for all owners, unless they have one of its name; others of the shared owner do not", async () => {
    const [name, ofTeam] = [newName(), newName()];
    const own = await untilReason(await create({ name: newName(), value: "own" }), "Set");
    const inShared = (spec: VariableSpec, resource: string): Promise<VariableResource> =>
      world.ports.store.create(variableKind, { namespace: sharedNamespace, name: resource, spec });
    await inShared({ name, value: "for all", shared: true }, "shared-one");
    await inShared({ name: ofTeam, value: "of the team" }, "team-one");
    await until(async () => (await published())[name]?.value === "for all", "the shared one is published");
    expect((await published())[ofTeam]).toBeUndefined();
    const nearest = await untilReason(await create({ name, value: "nearer" }), "Set");
    expect((await published())[name]?.value).toBe("nearer");
    await world.ports.store.delete(variableKind, namespace, nearest.metadata.name);
    await until(async () => (await published())[name]?.value === "for all", "the shared one counts again");
    await world.ports.store.delete(variableKind, sharedNamespace, "shared-one");
    await until(async () => (await published())[name] === undefined, "it is gone for all owners");
    expect((await published())[own.spec.name]?.value).toBe("own");
  });
});

describe("a workflow", () => {
  it("finds the variables of its owner published when it is deployed, and names the steps whose code reads them", async () => {
    const name = newName();
    await untilReason(await create({ name, value: "here" }), "Set");
    await world.ports.variableEntries.delete(deploymentKey(defaultPool, owner));
    const workflow = await flows.untilReason(
      await flows.create({ steps: [{ name: "own", code: `export default { type: "action", run() {} }` }] }),
      "Deployed",
    );
    expect((await published())[name]?.value).toBe("here");
    expect((await flows.deployed(workflow))?.steps).toMatchObject([{ name: "own", readsVariables: true }]);
  });
});
