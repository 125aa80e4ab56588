import { describe, expect, it } from "vitest";
import { sourceKind, type SourceResource } from "../../../crds/source.ts";
import { defaultPool, deploymentKey } from "../../../domain/subjects.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import { live, never, settled, survives } from "./mortal.ts";
import { idOf, sourcesIn } from "./source-support.ts";
import { withOperatorWorld } from "./world.ts";

const config = { ingressUrl: "http://ingress.test", pool: "default", hookTimeoutMs: 20_000 };
const world = withOperatorWorld();
const { change } = sourcesIn(world);

/** Reconciles with an operator that dies once, then with one that survives. @returns whether it died */
const reconcile = (source: SourceResource, dieAt: number): Promise<boolean> =>
  live(world.ports, dieAt, (ports) => {
    const pass = sourceReconciler(config, ports, new Slugs());
    return settled(() => pass(keyOf(source), new AbortController().signal));
  });

async function outcomeOf(source: SourceResource) {
  const { store, deployments, endpoints } = world.ports;
  const current = await store.find(sourceKind, source.metadata.namespace, source.metadata.name);
  const key = current?.status.endpointKey;
  return {
    ready: current?.status.conditions?.find(({ type }) => type === "Ready"),
    deployed: await deployments.get(deploymentKey(defaultPool, idOf(source))),
    endpoint: key === undefined ? undefined : await endpoints.get(key),
    timers: await world.timers(idOf(source)),
    hooks: world.ran.get(idOf(source)) ?? [],
  };
}

describe("an operator killed between any two steps", () => {
  it("deploys a source with each hook run once", async () => {
    const steps = await survives(async (dieAt) => {
      const source = await world.createSource();
      const died = await reconcile(source, dieAt);
      const { ready, deployed, endpoint, timers, hooks } = await outcomeOf(source);
      expect(ready).toMatchObject({ status: "True", reason: "Deployed", observedGeneration: 1 });
      expect(deployed).toMatchObject({ active: true, generation: 1 });
      expect(endpoint).toMatchObject({ source: idOf(source), active: true });
      expect(timers).toHaveLength(1);
      expect(hooks).toEqual(["deploy 1", "activate 1"]);
      return died;
    });
    expect(steps).toBeGreaterThan(6);
  });

  it("updates a source: deactivates the old code, activates the new code, and never runs deploy again", async () => {
    await survives(async (dieAt) => {
      const source = await world.createSource();
      await reconcile(source, never);
      const endpointBefore = (await outcomeOf(source)).endpoint;
      const died = await reconcile(await change(source, { props: { note: "new" } }), dieAt);
      const { ready, deployed, endpoint, timers, hooks } = await outcomeOf(source);
      expect(ready).toMatchObject({ status: "True", observedGeneration: 2 });
      expect(deployed).toMatchObject({ generation: 2, props: { note: "new" } });
      expect(endpoint).toEqual(endpointBefore);
      expect(timers).toHaveLength(1);
      expect(hooks).toEqual(["deploy 1", "activate 1", "deactivate 1", "activate 2"]);
      return died;
    });
  });

  it("pauses a source and switches it on again", async () => {
    await survives(async (dieAt) => {
      const source = await world.createSource();
      await reconcile(source, never);
      const died = await reconcile(await change(source, { active: false }), dieAt);
      expect(await outcomeOf(source)).toMatchObject({
        ready: { status: "True", reason: "Inactive" },
        deployed: { active: false },
        endpoint: { active: false },
        timers: [],
      });
      await reconcile(await change(source, { active: true }), dieAt);
      const { ready, endpoint, timers, hooks } = await outcomeOf(source);
      expect(ready).toMatchObject({ status: "True", reason: "Deployed", observedGeneration: 3 });
      expect(endpoint).toMatchObject({ active: true });
      expect(timers).toHaveLength(1);
      expect(hooks).toEqual(["deploy 1", "activate 1", "deactivate 1", "activate 3"]);
      return died;
    });
  });

  it("deletes a source and everything created for it", async () => {
    await survives(async (dieAt) => {
      const source = await world.createSource();
      await reconcile(source, never);
      const key = (await world.ports.store.get(sourceKind, source.metadata.namespace, source.metadata.name)).status.endpointKey ?? "";
      await world.ports.store.delete(sourceKind, source.metadata.namespace, source.metadata.name);
      const died = await reconcile(source, dieAt);
      expect(await world.ports.store.find(sourceKind, source.metadata.namespace, source.metadata.name)).toBeUndefined();
      expect(await outcomeOf(source)).toMatchObject({
        deployed: undefined,
        timers: [],
        hooks: ["deploy 1", "activate 1", "deactivate 1"],
      });
      expect(await world.ports.endpoints.get(key)).toBeUndefined();
      return died;
    });
  });
});

describe("a hook that fails", () => {
  it("leaves the source switched off, with the reason, until it is changed", async () => {
    world.failing.add("activate");
    const source = await world.createSource();
    await reconcile(source, never);
    expect(await outcomeOf(source)).toMatchObject({
      ready: { status: "False", reason: "HookFailed" },
      deployed: { active: false },
      timers: [],
    });
    world.failing.clear();
    await reconcile(await change(source, { props: { note: "corrected" } }), never);
    expect(await outcomeOf(source)).toMatchObject({
      ready: { status: "True" },
      deployed: { active: true },
      hooks: ["deploy 1", "activate 1", "activate 2"],
    });
  });

  it("is tried three times before the deletion continues", async () => {
    const source = await world.createSource();
    await reconcile(source, never);
    world.failing.add("deactivate");
    await world.ports.store.delete(sourceKind, source.metadata.namespace, source.metadata.name);
    await reconcile(source, never);
    world.failing.clear();
    expect(world.ran.get(idOf(source))).toEqual(["deploy 1", "activate 1", "deactivate 1", "deactivate 1", "deactivate 1"]);
    expect(await world.ports.store.find(sourceKind, source.metadata.namespace, source.metadata.name)).toBeUndefined();
  });
});
