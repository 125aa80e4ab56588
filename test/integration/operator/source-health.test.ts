import { describe, expect, it } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import type { Resource } from "../../../crds/resource.ts";
import type { SourceSpec, SourceResource } from "../../../crds/source.ts";
import { Unavailable } from "../../../domain/errors.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { refreshActivity } from "../../../operator/source/activity.ts";
import { ownComponentName } from "../../../operator/configured/component.ts";
import { sourceOperator, sourcesIn } from "./source-support.ts";
import { withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const signal = new AbortController().signal;

const { now, change: write } = sourcesIn(world);
const operate = (source: Resource) => sourceOperator(source, world.ports)();

async function change(source: Resource, spec: Partial<SourceSpec>): Promise<void> {
  await write(source, spec);
  await operate(source);
}

describe("the latest runs in a source's status", () => {
  it("is written for sources that ran since the last refresh, and for no others", async () => {
    const [ran, idle] = [await world.createSource({ code: "export default {}" }), await world.createSource({ code: "export default {}" })];
    for (const source of [ran, idle]) await operate(source);
    const sources = [await now(ran), await now(idle)];
    const at = Date.parse("2026-11-21T12:00:00Z");
    const lastError = { at, name: "Error", message: "no" };
    const { deployment = "" } = (await now(ran)).status;
    const activity: OperatorPorts["activity"] = {
      since: async (known) =>
        known
          .filter(({ source, lastRunAt }) => source === sources[0]?.status.id && lastRunAt < at)
          .map(({ source }) => ({
            source,
            lastRunAt: at,
            lastError,
            failing: { deployment, count: 2, since: at - 1_000, error: lastError },
          })),
    };
    const { namespace, name } = (await now(ran)).metadata;
    const component = await world.ports.store.get(componentKind, namespace, ownComponentName(name));
    const refresh = async () =>
      refreshActivity({ ...world.ports, activity }, { sources: () => sources, component: () => component }, signal);
    expect(await refresh()).toBe(1);
    expect((await now(ran)).status).toMatchObject({
      lastRunTime: "2026-11-21T12:00:00.000Z",
      lastErrorTime: "2026-11-21T12:00:00.000Z",
      lastError: "Error: no",
      state: "failing",
      problem: { code: "run_failed", message: "the last 2 runs failed: Error: no", since: "2026-11-21T11:59:59.000Z" },
    });
    const { nextTickTime = "" } = (await now(ran)).status;
    expect(Date.parse(nextTickTime)).toBeGreaterThan(world.ports.clock.now());
    expect((await now(idle)).metadata.resourceVersion).toBe(sources[1]?.metadata.resourceVersion);
    sources[0] = await now(ran);
    expect(await refresh()).toBe(0);

    await operate(ran);
    expect((await now(ran)).status).toMatchObject({ state: "failing" });
    await change(ran, { redeploy: "again" });
    const { state, problem } = (await now(ran)).status;
    expect({ state, problem }).toEqual({ state: "active", problem: undefined });
  });

  it("includes the backlog, which is written when it changes and kept while NATS does not respond", async () => {
    const source = await world.createSource({ code: "export default {}" });
    await operate(source);
    const { id = "" } = (await now(source)).status;
    let counts: Map<string, number> | undefined = new Map([[id, 3]]);
    const sourceBacklogs: OperatorPorts["sourceBacklogs"] = {
      read: async () => {
        if (counts === undefined) throw new Unavailable("NATS does not answer");
        return counts;
      },
    };
    const refresh = async () => {
      const sources = [await now(source)];
      return refreshActivity({ ...world.ports, sourceBacklogs }, { sources: () => sources, component: () => undefined }, signal);
    };
    expect([await refresh(), await refresh()]).toEqual([1, 0]);
    expect((await now(source)).status).toMatchObject({ backlog: 3, state: "active" });
    counts = undefined;
    expect(await refresh()).toBe(0);
    expect((await now(source)).status.backlog).toBe(3);
    counts = new Map();
    expect(await refresh()).toBe(1);
    expect((await now(source)).status.backlog).toBe(0);
  });
});

describe("the state in a source's status", () => {
  const stateOf = async (source: SourceResource) => {
    const { state, problem } = (await now(source)).status;
    return [state, problem?.code];
  };

  it("follows its deployment: active, paused, failing with the reason, active again", async () => {
    const source = await world.createSource({ code: "export default {}" });
    await operate(source);
    expect(await stateOf(source)).toEqual(["active", undefined]);
    await change(source, { active: false });
    expect(await stateOf(source)).toEqual(["paused", undefined]);
    await change(source, { active: true, props: { timer: { cron: "never" } } });
    expect(await stateOf(source)).toEqual(["paused", "invalid_props"]);
    await change(source, { active: true, props: {} });
    expect(await stateOf(source)).toEqual(["active", undefined]);
    await change(source, { props: { timer: { cron: "never" } } });
    expect(await stateOf(source)).toEqual(["failing", "invalid_props"]);
  });

  it("is deploying while its component is built", async () => {
    const source = await world.createSource({ componentRef: { name: "unbuilt" } });
    await world.ports.store.create(componentKind, { name: "unbuilt", namespace: source.metadata.namespace, spec: { code: "x" } });
    await operate(source);
    expect(await stateOf(source)).toEqual(["deploying", undefined]);
  });
});
