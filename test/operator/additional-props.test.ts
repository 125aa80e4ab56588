import type { ComponentResource } from "../../crds/component.ts";
import { describe, expect, it } from "vitest";
import { holderOf } from "../../crds/secret-values.ts";
import { defaultSettings, sourceKind, type SourceResource } from "../../crds/source.ts";
import type { Configuration, Configured } from "../../domain/component/configure.ts";
import type { Build, PropDefinition } from "../../domain/component/definition.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { OperatorPorts } from "../../operator/ports.ts";
import { buildFor, reloadDigest } from "../../operator/configured/additional-props.ts";
import { madeFor } from "../../crds/resource.ts";
import type { Observed } from "../../operator/source/observe/observed.ts";
import { plan } from "../../operator/source/plan/plan.ts";
import { PropReloads, type Reloadable } from "../../operator/deployable/prop-reloads.ts";
import type { Step } from "../../operator/source/plan/step.ts";
import { adopted, inputs, undeployed } from "./source-fixture.ts";

const own: readonly PropDefinition[] = [{ name: "kind", type: "string" }];
const returned: readonly PropDefinition[] = [
  ...own,
  { name: "every", type: "$.interface.timer", default: { intervalSeconds: 60 } },
  { name: "web", type: "$.interface.http", customResponse: true },
  { name: "store", type: "$.service.db" },
  { name: "token", type: "string", secret: true, optional: true },
];
const build: Build = {
  codeHash: "c0de",
  bundle: "b1",
  bundleBytes: 1,
  needsNode: false,
  lockfile: null,
  definition: { name: "Orders", type: "source", hooks: [], hasAdditionalProps: true, props: own },
};
const component: ComponentResource = {
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Component",
  metadata: { ...adopted, name: "orders-code", uid: "uid-c", labels: { [madeFor]: "uid-1" } },
  spec: { code: "code" },
  status: { id: "sc_1", observedGeneration: 1, build },
};

function sourceWith(spec: object = {}, status: SourceResource["status"] = {}): SourceResource {
  return {
    apiVersion: "headwater.dev/v1alpha1",
    kind: "Source",
    metadata: adopted,
    spec: {
      code: "code",
      ...defaultSettings,
      props: { kind: "both" },
      ...spec,
    },
    status: { id: "dc_1", nameSlug: "orders", pool: "default", endpointKey: "key", ...status },
  };
}

function observed(given: Partial<Observed> = {}): Observed {
  return { ...undeployed, source: sourceWith(), component, ...given };
}

const digest = reloadDigest(sourceWith(), component) ?? "";
const known = (spec: object = {}, props = returned) => sourceWith(spec, { configurableProps: props, configurableFor: digest });
const shown = (steps: readonly Step[]): readonly string[] =>
  steps.map((step) => (step.do === "report" ? `report ${step.verdict.reason}` : step.do));

describe("a source whose component has additional props", () => {
  it.each<[string, Partial<Observed>, readonly string[]]>([
    ["asks for them first", {}, ["reload-props"]],
    ["stores the returned props", { reloaded: { digest, props: returned } }, ["claim"]],
    ["calls again if the returned props are for other values", { reloaded: { digest: "other", props: returned } }, ["reload-props"]],
    ["is deployed once it has them", { source: known() }, ["write-deployment", "write-endpoint"]],
    ["asks again when its values change", { source: known({ props: { kind: "other" } }) }, ["reload-props"]],
    ["asks again when it is to be deployed again", { source: known({ redeploy: "2" }) }, ["reload-props"]],
    ["asks nothing when it is switched off", { source: known({ active: false }) }, ["write-deployment", "write-endpoint"]],
    ["does not ask while its own values are wrong", { source: sourceWith({ props: {} }) }, ["report InvalidProps", "record-event"]],
    [
      "is blocked by values that the returned props refuse",
      { source: known({}, [{ name: "kind", type: "integer" }]) },
      ["report InvalidProps", "record-event"],
    ],
    [
      "says when they cannot be had",
      { reloaded: { digest, blocked: { reason: "AdditionalPropsFailed", message: "no", transient: false } } },
      ["report AdditionalPropsFailed", "record-event"],
    ],
  ])("%s", (_, given, steps) => {
    expect(shown(plan(observed(given), inputs))).toEqual(steps);
  });

  it("is deployed with them: bindings of the isolate, timers, endpoint", () => {
    const steps = plan(observed({ source: known() }), inputs);
    const [deployment] = steps.flatMap((step) => (step.do === "write-deployment" ? [step.deployment] : []));
    expect(deployment).toMatchObject({
      props: { kind: "both", every: { intervalSeconds: 60 } },
      additionalProps: [
        { name: "every", type: "$.interface.timer" },
        { name: "web", type: "$.interface.http" },
        { name: "store", type: "$.service.db" },
        { name: "token", type: "string" },
      ],
      endpoint: "http://in.test/key",
    });
    expect(steps.find((step) => step.do === "write-endpoint")).toMatchObject({ endpoint: { customResponse: true } });
    const next = plan(observed({ source: known(), deployed: deployment }), inputs);
    expect(next.find((step) => step.do === "set-timer")).toMatchObject({ prop: "every", schedule: { intervalSeconds: 60 } });
  });

  it("finds reloaded props in whatever order the store returns the fields of a value", () => {
    const one = sourceWith({ props: { kind: "a", any: { x: 1, y: [{ b: 1, a: 2 }] } } });
    const other = sourceWith({ props: { any: { y: [{ a: 2, b: 1 }], x: 1 }, kind: "a" } });
    expect(reloadDigest(one, component)).toBe(reloadDigest(other, component));
  });

  it("uses the component's own props until the additional ones are known", () => {
    expect(buildFor(sourceWith(), component)?.definition).toEqual(build.definition);
    expect(buildFor(known(), component)?.definition).toEqual({ ...build.definition, props: returned, hasAdditionalProps: false });
  });
});

describe("reloads of props", () => {
  const reloadable = (): Reloadable => {
    const source = sourceWith();
    const { spec, status } = source;
    return { key: "uid", holder: holderOf(sourceKind, source), owner: "u_1", id: "dc_1", component, spec, status, endpoint: null };
  };
  const live = new AbortController().signal;

  function reloads(answer: () => Promise<Configured | undefined>) {
    const requested: Configuration[] = [];
    let now = 0;
    const ports = {
      pools: { poolOf: () => "own" },
      secrets: { sealForPool: async (pool: string, text: string) => `${pool}:${text}` },
      configurations: {
        ask: async (_pool: string, _call: string, configuration: Configuration) => {
          requested.push(configuration);
          return answer();
        },
      },
      clock: { now: () => now },
      newId: () => "r_1",
      log: { error: () => undefined },
    } as unknown as OperatorPorts; // What a reload uses of them.
    const wait = (ms: number): void => void (now += ms);
    return { reloads: new PropReloads(ports), requested, wait };
  }

  it("call the component once, with all values sealed for the owner's pool, and keep the result", async () => {
    const test = reloads(async () => ({ outcome: "props", props: returned }));
    expect(await test.reloads.run(reloadable(), digest, live)).toBe(true);
    expect(test.reloads.find("uid")).toEqual({ digest, props: returned });
    expect(test.requested).toMatchObject([{ call: { kind: "props" }, bundle: "b1", props: `own:{"kind":"both"}`, component: "dc_1" }]);
  });

  it("keep the message of an error that the component throws", async () => {
    const test = reloads(async () => ({ outcome: "failed", error: { name: "TypeError", message: "no board" } }));
    await test.reloads.run(reloadable(), digest, live);
    test.wait(3_600_000);
    expect(test.reloads.find("uid")).toMatchObject({
      blocked: {
        reason: "AdditionalPropsFailed",
        transient: false,
        message: expect.stringContaining("additionalProps threw TypeError: no board"),
      },
    });
  });

  it.each([
    ["no runner responds", async () => undefined],
    [
      "the streams are away",
      async (): Promise<undefined> => {
        throw new Unavailable("away");
      },
    ],
  ])("are repeated when %s", async (_, answer) => {
    const test = reloads(answer);
    await test.reloads.run(reloadable(), digest, live);
    expect(test.reloads.find("uid")).toMatchObject({
      blocked: { reason: "AdditionalPropsPending", transient: true, poll: true },
    });
    test.wait(2_000);
    expect(test.reloads.find("uid")).toBeUndefined();
  });

  it("wait again for a long call instead of repeating it", async () => {
    const answer = Promise.withResolvers<Configured>();
    const test = reloads(() => answer.promise);
    expect(await test.reloads.run(reloadable(), digest, AbortSignal.abort())).toBe(false);
    expect(await test.reloads.run(reloadable(), digest, AbortSignal.abort())).toBe(false);
    answer.resolve({ outcome: "props", props: returned });
    expect(await test.reloads.run(reloadable(), digest, live)).toBe(true);
    expect(test.requested).toHaveLength(1);
  });
});
