import { describe, expect, it } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import type { Resource } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import { componentReconciler } from "../../../operator/component/reconciler.ts";
import type { SourceState } from "../../../domain/run/commit.ts";
import { Unavailable } from "../../../domain/errors.ts";
import type { Kills } from "../../../domain/run/kills.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorConfig, OperatorPorts } from "../../../operator/ports.ts";
import { refreshActivity } from "../../../operator/source/activity.ts";
import { ownComponentName } from "../../../operator/configured/component.ts";
import { sourceOperator, sourcesIn } from "./source-support.ts";
import { withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const signal = new AbortController().signal;
const { now, readyOf, change } = sourcesIn(world);
const operatorOf = (source: Resource, config: Partial<OperatorConfig> = {}, ports: OperatorPorts = world.ports) =>
  sourceOperator(source, ports, config);

describe("a source with a url", () => {
  it("reports an unreadable url, retries, and reads it once per generation", async () => {
    const url = "https://components.example.com/a.mjs";
    const source = await world.createSource({ url });
    let read = 0;
    const fetchComponent = (address: string, owner: string | undefined) => (read++, world.ports.fetchComponent(address, owner));
    const operate = operatorOf(source, {}, { ...world.ports, fetchComponent });
    expect(await operate()).toBeGreaterThan(0);
    expect(await readyOf(source)).toMatchObject({ status: "False", reason: "CodeNotRead", message: expect.stringContaining(url) });

    world.addresses.set(url, "export default { v: 1 }");
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", reason: "Deployed" });

    read = 0;
    world.addresses.set(url, "export default { v: 2 }");
    await operate();
    expect(read).toBe(0);
    await change(source, { redeploy: "now" });
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", observedGeneration: 2 });
    const component = await world.ports.store.get(componentKind, source.metadata.namespace, ownComponentName(source.metadata.name));
    expect(component.spec.code).toBe("export default { v: 2 }");
    expect(read).toBeLessThanOrEqual(2);
  });
});

describe("a source of several files", () => {
  const specOf = async ({ metadata }: Resource) =>
    (await world.ports.store.get(componentKind, metadata.namespace, ownComponentName(metadata.name))).spec;

  it("is deployed from one component with all files, and again when a file changes", async () => {
    const code = "export default {}";
    const source = await world.createSource({ code, entry: "sources/a.mjs", files: { "app.mjs": "1" } });
    const operate = operatorOf(source);
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", reason: "Deployed" });
    expect(await specOf(source)).toEqual({ code, entry: "sources/a.mjs", files: { "app.mjs": "1" } });
    await change(source, { files: { "app.mjs": "2" } });
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", observedGeneration: 2 });
    expect((await specOf(source)).files).toEqual({ "app.mjs": "2" });
  });

  it("stores the files that were fetched with the url", async () => {
    const url = "https://components.example.com/several.mjs";
    const component = { code: "export default {}", entry: "several.mjs", files: { "util.mjs": "" } };
    world.addresses.set(url, component);
    const source = await world.createSource({ url });
    const operate = operatorOf(source);
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", reason: "Deployed" });
    expect(await specOf(source)).toEqual({ ...component, url });
  });

  it("reports the exceeded limit", async () => {
    const url = "https://components.example.com/large.mjs";
    world.addresses.set(url, { code: "x", files: { "a.txt": "x".repeat(2 ** 20) } });
    const source = await world.createSource({ url });
    await operatorOf(source)();
    expect(await readyOf(source)).toMatchObject({
      reason: "CodeInvalid",
      message: expect.stringContaining("1048577 bytes, 1048576 are allowed"),
    });
  });
});

describe("a source with code that cannot be built", () => {
  it("reports the builder's message, and runs once the code is fixed", async () => {
    const source = await world.createSource({ code: "broken" });
    const operate = operatorOf(source);
    await operate();
    expect(await readyOf(source)).toMatchObject({
      status: "False",
      reason: "ComponentFailed",
      message: expect.stringContaining("SyntaxError"),
    });
    await change(source, { code: "export default {}" });
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True" });
  });

  it("reports an unreachable builder, and builds once it responds", async () => {
    const component = await world.ports.store.create(componentKind, {
      name: "waits",
      namespace: (await world.createSource({ code: "export default {}" })).metadata.namespace,
      spec: { code: "export default { waits: true }" },
    });
    const away = { build: () => Promise.reject(new Unavailable("the builder does not answer")) };
    const readyOfComponent = async () =>
      (await world.ports.store.get(componentKind, component.metadata.namespace, "waits")).status.conditions?.find(
        ({ type }) => type === "Ready",
      );
    await expect(componentReconciler({ ...world.ports, builds: away })(keyOf(component))).rejects.toThrow("does not answer");
    expect(await readyOfComponent()).toMatchObject({ status: "False", reason: "BuilderUnavailable" });
    await componentReconciler(world.ports)(keyOf(component));
    expect(await readyOfComponent()).toMatchObject({ status: "True", reason: "Built" });
  });

  it("keeps running the previous version", async () => {
    const source = await world.createSource({ code: "export default { good: 1 }" });
    const operate = operatorOf(source);
    await operate();
    const id = (await now(source)).status.id ?? "";
    const before = await world.ports.deployments.get(`default.${id}`);
    await change(source, { code: "broken" });
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "False", reason: "ComponentFailed" });
    expect(await world.ports.deployments.get(`default.${id}`)).toEqual(before);
  });
});

describe("a hook that no runner runs", () => {
  it("does not delay other sources, and is reported as overdue", async () => {
    world.runners.gone = true;
    const source = await world.createSource({ code: "export default {}" });
    const operate = operatorOf(source, { hookTimeoutMs: 300 });
    expect(await operate()).toBeGreaterThan(0);
    await expect
      .poll(
        async () => {
          await operate();
          return (await readyOf(source))?.reason;
        },
        { timeout: 120_000 },
      )
      .toBe("HookOverdue");
    expect((await now(source)).status.conditions?.find(({ type }) => type === "Reconciling")).toMatchObject({ status: "True" });
    world.runners.gone = false;
    await world.ports.store.delete(sourceKind, source.metadata.namespace, source.metadata.name);
    await expect
      .poll(
        async () => {
          await operate();
          return world.ports.store.find(sourceKind, source.metadata.namespace, source.metadata.name);
        },
        { timeout: 120_000 },
      )
      .toBeUndefined();
  });
});

describe("a secret prop", () => {
  it("is deployed again, without hooks, when the text in its Secret changes", async () => {
    let text = "first";
    const secretValues = { ...world.ports.secretValues, read: async () => text };
    const secrets = { token: { secretKeyRef: { name: "tokens", key: "token" } } };
    const source = await world.createSource({ code: "export default { secret: 1 }", secrets });
    const operate = operatorOf(source, {}, { ...world.ports, secretValues });
    expect(await operate()).toBeGreaterThan(0);
    const id = (await now(source)).status.id ?? "";
    const first = await world.ports.deployments.get(`default.${id}`);
    await operate();
    expect(await world.ports.deployments.get(`default.${id}`)).toEqual(first);
    text = "second";
    await operate();
    expect(await world.ports.deployments.get(`default.${id}`)).not.toEqual(first);
    expect(JSON.stringify(await world.ports.deployments.get(`default.${id}`))).not.toContain("second");
    expect(await readyOf(source)).toMatchObject({ status: "True" });
    expect(world.ran.get(id)).toEqual(["deploy 1", "activate 1"]);
  });
});

describe("a source whose runs kill their process", () => {
  it("is reported as disabled when runners disable it, loses its timers, and runs again after a change", async () => {
    const source = await world.createSource({ code: "export default {}" });
    let kills: Kills | undefined;
    const histories: OperatorPorts["histories"] = {
      ...world.ports.histories,
      state: async (...of) => ({ ...(await world.ports.histories.state(...of)), ...(kills && { kills }) }) as SourceState,
    };
    const ports = { ...world.ports, histories };
    const operate = operatorOf(source, {}, ports);
    await operate();
    await operate();
    const { id = "", deployment = "", endpointKey = "" } = (await now(source)).status;
    expect(await readyOf(source)).toMatchObject({ status: "True" });
    expect(await world.timers(id)).not.toEqual([]);

    kills = { deployment, at: [1, 2, 3], inRow: 3, disabledAt: 3 };
    const error = { name: "SourceDisabled", message: "x", code: "source_disabled" };
    const activity: OperatorPorts["activity"] = {
      since: async () => [{ source: id, lastRunAt: 3, lastError: { ...error, at: 3 }, failing: { deployment, count: 3, since: 1, error } }],
    };
    const seen = await now(source);
    expect(await refreshActivity({ ...ports, activity }, { sources: () => [seen], component: () => undefined }, signal)).toBe(1);
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "False", reason: "SourceDisabled" });
    expect((await now(source)).status).toMatchObject({ state: "disabled", problem: { code: "source_disabled" } });
    expect((await now(source)).status.conditions?.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True" });
    expect(await world.timers(id)).toEqual([]);
    expect(await world.ports.endpoints.get(endpointKey)).toMatchObject({ active: false });
    expect(world.recordedEvents.filter((line) => line.endsWith("SourceDisabled"))).toHaveLength(1);
    const { resourceVersion } = (await now(source)).metadata;
    await operate();
    expect((await now(source)).metadata.resourceVersion).toBe(resourceVersion);

    await change(source, { redeploy: "again" });
    await operate();
    await operate();
    expect(await readyOf(source)).toMatchObject({ status: "True", reason: "Deployed" });
    expect((await now(source)).status).toMatchObject({ state: "active" });
    expect(await world.timers(id)).not.toEqual([]);
    expect(await world.ports.endpoints.get(endpointKey)).toMatchObject({ active: true });
  });
});
