import { beforeEach, describe, expect, it } from "vitest";
import { sourceKind, type SourceSpec, type SourceResource } from "../../../crds/source.ts";
import { InvalidInput, LimitExceeded } from "../../../domain/errors.ts";
import { defaultPool, deploymentKey } from "../../../domain/subjects.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import { dies, settled, survives } from "./mortal.ts";
import { idOf, sourceOperator, sourcesIn } from "./source-support.ts";
import { withOperatorWorld } from "./world.ts";

const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const world = withOperatorWorld();
const signal = new AbortController().signal;
const { now, change, entryOf } = sourcesIn(world);
beforeEach(() => world.failing.clear());

const operatorOf = (source: SourceResource, ports: OperatorPorts = world.ports) => {
  const reconcile = sourceReconciler(config, ports, new Slugs());
  return () => settled(() => reconcile(keyOf(source), signal));
};

/** One pass of one operator over the source and its component. @returns when the next pass is due */
const pass = (source: SourceResource, ports: OperatorPorts = world.ports): Promise<number | undefined> =>
  sourceOperator(source, ports, config, settled)();

const dyingPass = (source: SourceResource, dieAt: number, ports: OperatorPorts = world.ports): Promise<boolean> =>
  dies(ports, dieAt, (mortal) => pass(source, mortal));

async function deployedSource(spec: Partial<SourceSpec> = {}): Promise<SourceResource> {
  const source = await world.createSource({ props: { note: "old" }, ...spec });
  await pass(source);
  expect((await shown(source)).ready).toMatchObject({ status: "True" });
  return source;
}

async function shown(source: SourceResource) {
  const { status } = await now(source);
  const endpoint = status.endpointKey === undefined ? undefined : await world.ports.endpoints.get(status.endpointKey);
  const deployed = await entryOf(source);
  return {
    status,
    ready: status.conditions?.find(({ type }) => type === "Ready"),
    stalled: status.conditions?.find(({ type }) => type === "Stalled")?.status,
    note: deployed?.props["note"],
    active: [deployed?.active, endpoint?.active],
    timers: (await world.timers(idOf(source))).length,
    deployed,
    hooks: world.ranOn.get(idOf(source)) ?? [],
  };
}

/** The version that is registered with external services, derived from the order of its hooks. */
function registered(hooks: readonly string[], failed: (hook: string) => boolean): string | undefined {
  let version: string | undefined;
  for (const each of hooks) {
    const [hook, note] = each.split(" ");
    if (failed(each)) continue;
    if (hook === "activate") version = note;
    if (hook === "deactivate") version = undefined;
  }
  return version;
}

const runs = (note: string) => ({ note, active: [true, true], timers: 1 });

describe("an update that fails in an operator killed between any two steps", () => {
  it("keeps the previous version running when activate of the new one throws", async () => {
    world.failing.add("activate new");
    const steps = await survives(async (dieAt) => {
      const source = await deployedSource();
      const { status: before } = await now(source);
      await change(source, { props: { note: "new" }, name: "Renamed" });
      const died = await dyingPass(source, dieAt);
      await pass(source);
      const { ready, stalled, status, hooks, ...rest } = await shown(source);
      expect(rest).toMatchObject(runs("old"));
      expect([ready, stalled]).toMatchObject([{ status: "False", reason: "UpdateFailed", observedGeneration: 2 }, "True"]);
      expect(ready?.message).toMatch(
        /^the update failed: hook activate failed: Error: activate fails; version d_\w+ of \S+Z is still running; correct it and send the update again/,
      );
      expect(status).toMatchObject({
        runningGeneration: 1,
        running: { name: "Everything", props: { note: "old" }, active: true },
        nameSlug: before.nameSlug,
        deployment: rest.deployed?.id,
        hookFailures: [{ hook: "activate", error: { message: "activate fails" } }],
      });
      expect(hooks).toEqual(["deploy old", "activate old", "deactivate old", "activate new", "activate old"]);
      expect(world.recordedEvents.filter((line) => line === `Source/${source.metadata.name} UpdateFailed`).length).toBeGreaterThan(0);

      const { resourceVersion } = (await now(source)).metadata;
      await pass(source);
      expect((await now(source)).metadata.resourceVersion).toBe(resourceVersion);
      return died;
    });
    expect(steps).toBeGreaterThan(8);
  });

  it("continues with the next update, at whatever step the failed one was", async () => {
    world.failing.add("activate new");
    await survives(async (dieAt) => {
      const source = await deployedSource();
      await change(source, { props: { note: "new" } });
      const died = await dyingPass(source, dieAt);
      await change(source, { props: { note: "newest" } });
      await pass(source);
      const { ready, status, hooks, ...rest } = await shown(source);
      expect(rest).toMatchObject(runs("newest"));
      expect(ready).toMatchObject({ status: "True", reason: "Deployed", observedGeneration: 3 });
      expect([status.running, status.runningGeneration]).toEqual([undefined, 3]);
      expect(registered(hooks, (hook) => world.failing.has(hook))).toBe("newest");
      return died;
    });
  });

  it("returns to the previous version when the next update cannot be built", async () => {
    await survives(async (dieAt) => {
      const source = await deployedSource({ code: "export default { v: 1 }" });
      const { bundle } = (await entryOf(source)) ?? {};
      await change(source, { code: "export default { v: 2 }", props: { note: "new" } });
      const died = await dyingPass(source, dieAt);
      const isThrough = (await shown(source)).ready?.status === "True" && (await now(source)).status.runningGeneration === 2;
      await change(source, { code: "broken" });
      await pass(source);
      const { ready, hooks, ...rest } = await shown(source);
      expect(rest).toMatchObject(runs(isThrough ? "new" : String(rest.note)));
      if (!isThrough && rest.note === "old") expect(rest.deployed?.bundle).toBe(bundle);
      expect(ready).toMatchObject({ status: "False", reason: "ComponentFailed" });
      expect(ready?.message).toMatch(/^the update failed: component .+ cannot be built: .+; version d_\w+ of \S+Z is still running; /);
      expect(registered(hooks, () => false)).toBe(rest.note);
      return died;
    });
  });

  it("leaves nothing behind when the source is deleted", async () => {
    world.failing.add("activate new");
    await survives(async (dieAt) => {
      const source = await deployedSource();
      await change(source, { props: { note: "new" } });
      const died = await dyingPass(source, dieAt);
      await world.ports.store.delete(sourceKind, source.metadata.namespace, source.metadata.name);
      await operatorOf(source)();
      expect(await world.ports.store.find(sourceKind, source.metadata.namespace, source.metadata.name)).toBeUndefined();
      expect([await entryOf(source), await world.ports.versions.get(idOf(source)), await world.timers(idOf(source))]).toEqual([
        undefined,
        undefined,
        [],
      ]);
      const hooks = world.ranOn.get(idOf(source)) ?? [];
      expect(registered(hooks, (hook) => world.failing.has(hook))).toBeUndefined();
      return died;
    });
  });

  it("leaves a paused source paused if the failed update would have activated it", async () => {
    world.failing.add("activate new");
    await survives(async (dieAt) => {
      const source = await deployedSource({ active: false });
      await change(source, { active: true, props: { note: "new" } });
      const died = await dyingPass(source, dieAt);
      await pass(source);
      const { ready, status, ...rest } = await shown(source);
      expect(rest).toMatchObject({ note: "old", active: [false, false], timers: 0 });
      expect([ready?.reason, ready?.message]).toEqual(["UpdateFailed", expect.stringContaining("stays paused")]);
      expect(status.running).toMatchObject({ active: false, props: { note: "old" } });
      return died;
    });
  });

  it("restores the previous version when its timers or its entry are refused", async () => {
    const refusing: Partial<OperatorPorts> = {
      timers: {
        end: (source) => world.ports.timers.end(source),
        remove: (source, prop) => world.ports.timers.remove(source, prop),
        set: async (pool, source, prop, schedule, invocation) => {
          if (schedule.kind === "interval" && schedule.intervalSeconds === 7) throw new InvalidInput("NATS refuses this schedule");
          await world.ports.timers.set(pool, source, prop, schedule, invocation);
        },
      },
      deployments: {
        get: (key) => world.ports.deployments.get(key),
        delete: (key) => world.ports.deployments.delete(key),
        put: async (key, entry) => {
          if ("props" in entry && entry.props["note"] === "huge") throw new LimitExceeded("a message is larger than max_payload");
          await world.ports.deployments.put(key, entry);
        },
      },
    };
    const outcomes = [
      { props: { note: "new", timer: { intervalSeconds: 7 } }, message: "NATS refuses this schedule" },
      { props: { note: "huge" }, message: "a message is larger than max_payload" },
    ];
    for (const { props, message } of outcomes)
      await survives(async (dieAt) => {
        const source = await deployedSource();
        await change(source, { props });
        const died = await dyingPass(source, dieAt, { ...world.ports, ...refusing });
        await pass(source, { ...world.ports, ...refusing });
        const { ready, hooks, ...rest } = await shown(source);
        expect(rest).toMatchObject(runs("old"));
        expect([ready?.reason, ready?.message]).toEqual(["UpdateFailed", expect.stringContaining(`the update failed: `)]);
        expect(ready?.message).toContain(message);
        expect(registered(hooks, () => false)).toBe("old");
        return died;
      });
  });
});

describe("an update", () => {
  it("fails when deactivate of the old version throws, unless ignoreHookErrors is set", async () => {
    const source = await deployedSource();
    world.failing.add("deactivate old");
    await change(source, { props: { note: "new" } });
    await pass(source);
    const { ready, ...rest } = await shown(source);
    expect(rest).toMatchObject(runs("old"));
    expect([ready?.reason, ready?.message]).toEqual(["UpdateFailed", expect.stringContaining("ignore_hook_errors=true")]);
    expect(rest.hooks.slice(-2)).toEqual(["deactivate old", "activate old"]);

    await change(source, { ignoreHookErrors: true });
    await pass(source);
    expect(await shown(source)).toMatchObject({ ...runs("new"), ready: { status: "True" } });
  });

  it("that pauses a source continues when deactivate throws, and reports the error", async () => {
    const source = await deployedSource();
    world.failing.add("deactivate old");
    await change(source, { active: false });
    await pass(source);
    expect(await shown(source)).toMatchObject({ ready: { reason: "Inactive" }, active: [false, false], timers: 0 });
    expect(world.recordedEvents).toContain(`Source/${source.metadata.name} HookFailed`);
  });

  it("is retried when the spec changes, and only then", async () => {
    const source = await deployedSource();
    world.failing.add("activate new");
    await change(source, { props: { note: "new" } });
    await pass(source);
    world.failing.clear();
    await pass(source);
    expect((await shown(source)).ready?.reason).toBe("UpdateFailed");
    await change(source, { redeploy: "again" });
    await pass(source);
    expect(await shown(source)).toMatchObject({ ...runs("new"), ready: { status: "True" } });
  });

  it("of the component alone returns to the previous bundle", async () => {
    const source = await deployedSource({ code: "export default { v: 1 }" });
    const { bundle } = (await entryOf(source)) ?? {};
    world.failing.add("activate");
    await change(source, { code: "export default { v: 2 }" });
    await pass(source);
    world.failing.clear();
    const { ready, deployed } = await shown(source);
    expect(ready?.reason).toBe("UpdateFailed");
    expect(deployed?.bundle).toBe(bundle);
  });

  it("restores the previous version and retries its activate hook if that fails too", async () => {
    let ahead = 0;
    const ports = { ...world.ports, clock: { now: () => world.ports.clock.now() + ahead } };
    const source = await deployedSource();
    const look = operatorOf(source, ports);
    world.failing.add("activate");
    await change(source, { props: { note: "new" } });
    const againMs = await look();
    const { ready, status, ...rest } = await shown(source);
    expect(rest).toMatchObject(runs("old"));
    expect(ready?.message).toContain("is still running, though its hook activate failed and is retried: Error: activate fails;");
    expect(status.hookFailures).toHaveLength(2);
    expect(againMs).toBeGreaterThan(0);

    const ran = rest.hooks.length;
    await look();
    expect((await shown(source)).hooks).toHaveLength(ran);
    ahead += againMs ?? 0;
    expect(await look()).toBeGreaterThan(againMs ?? 0);
    expect((await shown(source)).hooks).toHaveLength(ran + 1);
    world.failing.clear();
    ahead += 20 * 60_000;
    expect(await look()).toBeUndefined();
    expect((await shown(source)).ready?.message).not.toContain("is retried");
    expect((await shown(source)).status.hookFailures).toHaveLength(1);
  });

  it.each<[string, string, Partial<SourceSpec>]>([
    ["cannot be deployed", "InvalidProps", { secrets: {} }],
    ["fails", "UpdateFailed", {}],
  ])("that %s keeps secret values of the running version up to date", async (_what, reason, spec) => {
    let text = "first";
    const ports = { ...world.ports, secretValues: { ...world.ports.secretValues, read: async () => text } };
    const source = await world.createSource({
      code: "export default { secret: 1 }",
      props: { note: "old" },
      secrets: { token: { secretKeyRef: { name: "tokens", key: "token" } } },
    });
    await pass(source, ports);
    world.failing.add("activate new");
    await change(source, { props: { note: "new" }, ...spec });
    expect(await pass(source, ports)).toBeGreaterThan(0);
    const before = await entryOf(source);
    expect([before?.props["note"], before?.secrets]).toEqual(["old", expect.any(String)]);
    text = "second";
    await pass(source, ports);
    const after = await entryOf(source);
    expect([after?.id, after?.generation]).toEqual([before?.id, before?.generation]);
    expect(after?.secrets).not.toBe(before?.secrets);
    expect((await shown(source)).ready?.reason).toBe(reason);
  });

  it("that fails does not prevent a move to another pool", async () => {
    const source = await deployedSource();
    world.failing.add("activate new");
    await change(source, { props: { note: "new" } });
    await pass(source);
    await pass(source, { ...world.ports, pools: { poolOf: () => "theirs" } });
    expect(await world.ports.deployments.get(deploymentKey("theirs", idOf(source)))).toMatchObject({
      props: { note: "old" },
      active: true,
    });
    expect(await world.ports.deployments.get(deploymentKey(defaultPool, idOf(source)))).toMatchObject({ movedTo: "theirs" });
    expect((await now(source)).status.pool).toBe("theirs");
  });
});
