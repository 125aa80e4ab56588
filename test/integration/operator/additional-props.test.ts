import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SourceSpec, SourceResource } from "../../../crds/source.ts";
import type { Configured } from "../../../domain/component/configure.ts";
import type { Build, PropDefinition } from "../../../domain/component/definition.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { sourceOperator, sourcesIn } from "./source-support.ts";
import { withOperatorWorld } from "./world.ts";

/** Sources with additional props, on real Postgres and NATS. The test responds in place of the runner. */
const own: readonly PropDefinition[] = [{ name: "kind", type: "string" }];
const build = async (code: string): Promise<Build> => {
  const hash = createHash("sha256").update(code).digest("hex");
  const definition = { name: "Choose", type: "source", hooks: [], hasAdditionalProps: true, props: own } as const;
  return { codeHash: hash, bundle: hash, bundleBytes: 1, needsNode: false, definition, lockfile: null };
};
const world = withOperatorWorld({ build });
const sources = sourcesIn(world);
const timer: readonly PropDefinition[] = [...own, { name: "every", type: "$.interface.timer", default: { intervalSeconds: 3600 } }];
const http: readonly PropDefinition[] = [
  ...own,
  { name: "web", type: "$.interface.http" },
  { name: "size", type: "integer", max: 5, optional: true },
];

/** An operator, its requests to runners, and their responses. */
function operatorOf(source: SourceResource) {
  const test = { asked: 0, answer: { outcome: "props", props: timer } as Configured };
  const ports: OperatorPorts = {
    ...world.ports,
    configurations: {
      ask: async () => {
        test.asked++;
        return test.answer;
      },
    },
  };
  const operate = sourceOperator(source, ports);
  const change = async (spec: Partial<SourceSpec>): Promise<void> => {
    await sources.change(source, spec);
    await operate();
  };
  const [now, deployed, ready] = [() => sources.now(source), () => sources.entryOf(source), () => sources.readyOf(source)];
  return { test, operate, now, change, deployed, ready };
}

describe("a source whose component has additional props", () => {
  it("gets timers, endpoint and bindings of the additional props, again when the values change", async () => {
    const source = await world.createSource({ code: "one", props: { kind: "timer" } });
    const { test, operate, now, change, deployed, ready } = operatorOf(source);
    await operate();
    expect(await ready()).toMatchObject({ status: "True", reason: "Deployed" });
    expect((await now()).status.configurableProps).toEqual(timer);
    expect(await deployed()).toMatchObject({
      props: { kind: "timer", every: { intervalSeconds: 3600 } },
      additionalProps: [{ name: "every", type: "$.interface.timer" }],
      endpoint: null,
    });
    const { id = "" } = (await now()).status;
    expect(await world.timers(id)).toHaveLength(1);

    test.answer = { outcome: "props", props: http };
    await change({ props: { kind: "http", size: 3 } });
    expect(await deployed()).toMatchObject({
      props: { kind: "http", size: 3 },
      additionalProps: [
        { name: "web", type: "$.interface.http" },
        { name: "size", type: "integer" },
      ],
      endpoint: expect.stringContaining("http://ingress.test/"),
    });
    expect(await world.timers(id)).toHaveLength(0);
    expect(test.asked).toBe(2);
  });

  it("is called once for unchanged values", async () => {
    const { test, operate, change } = operatorOf(await world.createSource({ code: "two", props: { kind: "timer" } }));
    await operate();
    await operate();
    await change({ active: false });
    await change({ active: true, name: "Renamed" });
    expect(test.asked).toBe(1);
    await change({ redeploy: "again" });
    await change({ code: "two, changed" });
    expect(test.asked).toBe(3);
  });

  it("reports the component's error or an invalid value, keeps running, and deploys after a change", async () => {
    const { test, operate, change, deployed, ready } = operatorOf(await world.createSource({ code: "three", props: { kind: "http" } }));
    test.answer = { outcome: "props", props: http };
    await operate();
    const before = await deployed();

    test.answer = { outcome: "failed", error: { name: "Error", message: "the API says no" } };
    await change({ props: { kind: "other" } });
    expect(await ready()).toMatchObject({
      status: "False",
      reason: "AdditionalPropsFailed",
      message: expect.stringMatching(
        /^the update failed: additionalProps failed: additionalProps threw Error: the API says no; version d_\w+ of .+Z is still running; /,
      ),
    });
    expect(await deployed()).toEqual(before);
    await operate();
    expect(test.asked).toBe(2);

    test.answer = { outcome: "props", props: http };
    await change({ props: { kind: "http", size: 9 } });
    expect(await ready()).toMatchObject({
      reason: "InvalidProps",
      message: expect.stringContaining("prop 'size' is invalid: 9 must be an integer of at most 5"),
    });
    await change({ props: { kind: "http", size: 5 } });
    expect(await ready()).toMatchObject({ status: "True" });
    expect(await deployed()).toMatchObject({ props: { size: 5 } });
  });
});
