import type { ComponentResource } from "../../crds/component.ts";
import { describe, expect, it } from "vitest";
import { defaultSettings, type SourceResource } from "../../crds/source.ts";
import type { Build } from "../../domain/component/definition.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { madeFor } from "../../crds/resource.ts";
import { readyConditions } from "../../operator/controller/status.ts";
import { ownComponentName } from "../../operator/configured/component.ts";
import type { Observed } from "../../operator/source/observe/observed.ts";
import { plan } from "../../operator/source/plan/plan.ts";
import type { Step } from "../../operator/source/plan/step.ts";
import { adopted, inputs, undeployed } from "./source-fixture.ts";

const at = adopted.creationTimestamp;

const build: Build = {
  codeHash: "c0de",
  bundle: "b1",
  bundleBytes: 1,
  needsNode: false,
  lockfile: null,
  definition: {
    name: "Orders",
    type: "source",
    hooks: ["activate", "deactivate"],
    hasAdditionalProps: false,
    props: [
      { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
      { name: "token", type: "string", secret: true, optional: true },
    ],
  },
};

const ready = (reason: string, status: "True" | "False" = "True", observedGeneration = 1) =>
  ({ type: "Ready", status, reason, message: "", lastTransitionTime: at, observedGeneration }) as const;

function sourceWith(
  given: { metadata?: Partial<SourceResource["metadata"]>; spec?: object; status?: SourceResource["status"] } = {},
): SourceResource {
  return {
    apiVersion: "headwater.dev/v1alpha1",
    kind: "Source",
    metadata: { ...adopted, ...given.metadata },
    spec: { code: "code", ...defaultSettings, ...given.spec },
    status: given.status ?? { id: "dc_1", nameSlug: "orders", pool: "default" },
  };
}

const component: ComponentResource = {
  ...sourceWith(),
  kind: "Component",
  metadata: { ...sourceWith().metadata, name: "orders-code", labels: { [madeFor]: "uid-1" } },
  spec: { code: "code" },
  status: { id: "sc_1", observedGeneration: 1, build },
};

const action: ComponentResource = {
  ...component,
  status: { ...component.status, build: { ...build, definition: { ...build.definition, type: "action" } } },
};

const deployed: Deployment = {
  source: "dc_1",
  owner: "u_1",
  pool: "default",
  name: "orders",
  id: "d_1",
  generation: 1,
  sourceGeneration: 1,
  active: true,
  bundle: "b1",
  needsNode: false,
  props: {},
  secrets: null,
  dedupe: null,
  hooks: ["activate", "deactivate"],
  endpoint: null,
};

function observed(given: Partial<Observed> = {}): Observed {
  return { ...undeployed, source: sourceWith(), component, ...given };
}

const settledStatus = { id: "dc_1", nameSlug: "orders", pool: "default", deployment: "d_1", conditions: [ready("Deployed")] };
const ran = (generation: number, error: { name: string; message: string } | null = null, attempts = 1) => ({
  generation,
  run: "r_1",
  attempts,
  error,
});
const deleting = { deletionTimestamp: at };

/** What each step does, and of a report the reason, of a hook which. */
const shown = (steps: readonly Step[]): readonly string[] =>
  steps.map((step) => {
    if (step.do === "report") return `report ${step.verdict.reason}`;
    if (step.do === "record-event") return `event ${step.reason}`;
    return step.do === "run-hook" ? `run ${step.hook} ${step.generation}x${step.attempt}` : step.do;
  });

/** The entry after the first steps of a deletion: runners end what the source has accepted. */
const ending: Deployment = { ...deployed, active: false, ending: inputs.now - 1_000 };
const endWork = ["end-timers", "write-deployment"];
const takeAway = ["end-timers", "remove-deployment", "forget-version", "forget-history", "remove-component", "end-connections", "release"];

describe("the plan of a source", () => {
  it.each<[string, Partial<Observed>, readonly string[]]>([
    ["without a claim", { source: sourceWith({ status: {} }) }, ["claim"]],
    ["whose component is not made", { component: undefined }, ["write-component"]],
    ["whose code differs from its component's", { code: { code: { code: "other" } } }, ["write-component"]],
    ["whose component is not built", { component: { ...component, status: {} } }, ["report ComponentNotBuilt"]],
    [
      "whose component was built of older code",
      { component: { ...component, metadata: { ...component.metadata, generation: 2 } } },
      ["report ComponentNotBuilt"],
    ],
    [
      "whose component's new code waits for the builder",
      { component: { ...component, status: { ...component.status, conditions: [ready("BuilderUnavailable", "False")] } } },
      ["report ComponentNotBuilt"],
    ],
    [
      "whose component's name is taken",
      { component: { ...component, metadata: { ...component.metadata, labels: {} } } },
      ["report NameTaken", "event NameTaken"],
    ],
    ["in a namespace without an owner", { owner: undefined }, ["report NamespaceHasNoOwner"]],
    [
      "whose ConfigMap is missing",
      { code: { blocked: { reason: "ConfigMapNotFound", message: "", transient: true } } },
      ["report ConfigMapNotFound"],
    ],
    [
      "whose Secret is missing",
      { secrets: { blocked: { reason: "SecretNotFound", message: "", transient: true } } },
      ["report SecretNotFound"],
    ],
    [
      "with a wrong prop",
      { source: sourceWith({ spec: { props: { timer: { intervalSeconds: 0 } } } }) },
      ["report InvalidProps", "event InvalidProps"],
    ],
    ["whose component is an action", { component: action }, ["report ComponentIsAction", "event ComponentIsAction"]],
    ["without a slug", { source: sourceWith({ status: { id: "dc_1" } }) }, ["claim"]],
    ["that is not deployed", {}, ["write-deployment"]],
    [
      "whose first deployment was complete and whose entry was lost before a change",
      { source: sourceWith({ metadata: { generation: 2 }, status: settledStatus }) },
      ["end-timers", "write-deployment"],
    ],
    ["that is deployed", { deployed }, ["run activate 1x1"]],
    ["whose activate ran", { deployed, hooks: { activate: ran(1) } }, ["set-timer", "keep-version", "report Deployed", "event Deployed"]],
    [
      "whose activate failed",
      { deployed, hooks: { activate: ran(1, { name: "Error", message: "no" }) } },
      ["end-timers", "write-deployment", "report HookFailed", "event HookFailed"],
    ],
    ["that is settled", { source: sourceWith({ status: settledStatus }), deployed, code: undefined }, []],
    [
      "that was changed",
      { source: sourceWith({ metadata: { generation: 2 }, status: settledStatus }), deployed },
      ["end-timers", "run deactivate 1x1"],
    ],
    [
      "whose component has other code now",
      { source: sourceWith({ status: settledStatus }), deployed: { ...deployed, bundle: "b0" }, hooks: { deactivate: ran(1) } },
      ["end-timers", "write-deployment"],
    ],
    [
      "whose component is being rebuilt",
      { source: sourceWith({ status: settledStatus }), deployed, component: { ...component, status: {} } },
      [],
    ],
    ["whose secrets were changed", { source: sourceWith({ status: settledStatus }), deployed, secretsChanged: true }, ["write-deployment"]],
    [
      "whose secrets were changed and written",
      { source: sourceWith({ status: settledStatus }), deployed: { ...deployed, id: "d_2" }, hooks: { activate: ran(1) } },
      ["set-timer", "keep-version", "report Deployed", "event Deployed"],
    ],
    ["whose entry was lost", { source: sourceWith({ status: settledStatus }) }, ["set-timer", "write-deployment"]],
    [
      "that moves",
      { source: sourceWith({ status: settledStatus }), deployed, movesTo: "theirs" },
      ["write-deployment", "set-timer", "leave-pool", "claim"],
    ],
    [
      "whose secrets are deployed",
      { source: sourceWith({ spec: { secrets: { token: { sealed: "jwe" } } } }), deployed, hooks: { activate: ran(1) } },
      ["set-timer", "keep-version", "settle-secrets", "report Deployed", "event Deployed"],
    ],
    [
      "that is switched off and has no more secrets",
      {
        source: sourceWith({ metadata: { generation: 2 }, spec: { active: false } }),
        deployed: { ...deployed, active: false, generation: 2, sourceGeneration: 2 },
      },
      ["keep-version", "settle-secrets", "report Inactive", "event Inactive"],
    ],
    [
      "whose secrets are deployed and whose activate failed",
      {
        source: sourceWith({ spec: { secrets: { token: { sealed: "jwe" } } } }),
        deployed,
        hooks: { activate: ran(1, { name: "Error", message: "no" }) },
      },
      ["end-timers", "write-deployment", "settle-secrets", "report HookFailed", "event HookFailed"],
    ],
    [
      "whose namespace has another owner",
      { source: sourceWith({ status: settledStatus }), deployed, owner: "u_2", code: undefined },
      ["end-timers", "run deactivate 1x1"],
    ],
    [
      "whose namespace has another owner, deactivate ran",
      { source: sourceWith({ status: settledStatus }), deployed, owner: "u_2", code: undefined, hooks: { deactivate: ran(1) } },
      ["end-timers", "write-deployment"],
    ],
    [
      "whose namespace has another owner with a pool of their own",
      { source: sourceWith({ status: settledStatus }), deployed, owner: "u_2", movesTo: "theirs", code: undefined },
      ["end-timers", "run deactivate 1x1"],
    ],
    ["that is deleted", { source: sourceWith({ metadata: deleting }), deployed }, ["end-timers", "run deactivate 1x1"]],
    [
      "that is deleted, deactivate failed once",
      { source: sourceWith({ metadata: deleting }), deployed, hooks: { deactivate: ran(1, { name: "Error", message: "no" }) } },
      ["end-timers", "run deactivate 1x2"],
    ],
    ["that is deleted, deactivate ran", { source: sourceWith({ metadata: deleting }), deployed, hooks: { deactivate: ran(1) } }, endWork],
    ["that is deleted, whose work has ended", { source: sourceWith({ metadata: deleting }), deployed: ending, queued: 0 }, takeAway],
    [
      "that is deleted, whose work has not ended",
      { source: sourceWith({ metadata: deleting }), deployed: ending, queued: 1 },
      ["await-queue"],
    ],
    [
      "that is deleted, whose work has not ended after ten seconds",
      { source: sourceWith({ metadata: deleting }), deployed: { ...ending, ending: inputs.now - 10_000 }, queued: 1 },
      ["event WorkDropped", ...takeAway],
    ],
    [
      "that is deleted, deactivate failed three times",
      { source: sourceWith({ metadata: deleting }), deployed, hooks: { deactivate: ran(1, { name: "Error", message: "no" }, 3) } },
      ["event HookFailed", ...endWork],
    ],
    [
      "that is deleted, its component and its namespace's label gone",
      { source: sourceWith({ metadata: deleting }), deployed: ending, component: undefined, owner: undefined },
      takeAway.filter((step) => step !== "remove-component"),
    ],
    [
      "that is deleted, whose hook no runner runs, and hook errors are ignored",
      { source: sourceWith({ metadata: deleting, spec: { ignoreHookErrors: true } }), deployed },
      ["event HookSkipped", ...endWork],
    ],
    [
      "that is deleted before it was adopted",
      { source: sourceWith({ metadata: deleting, status: {} }), component: undefined },
      ["release"],
    ],
    [
      "that is deleted and whose spec does not fit",
      // As a cluster may hold it: of no type of ours.
      {
        source: { ...sourceWith({ metadata: deleting }), spec: {} as never },
        component: undefined,
        deployed: ending,
      },
      takeAway.filter((step) => step !== "remove-component"),
    ],
    ["that is deleted and not ours any more", { source: sourceWith({ metadata: { ...deleting, finalizers: [] } }), deployed }, []],
  ])("of one %s", (_what, given, steps) => {
    expect(shown(plan(observed(given), inputs))).toEqual(steps);
  });

  it("claims id and names of a new source once it can be deployed", () => {
    const source = sourceWith({ status: {} });
    const fields = { id: "dc_1", nameSlug: "orders", endpointKey: undefined, pool: "default" };
    expect(plan(observed({ source }), inputs)).toEqual([{ do: "claim", fields }]);
    expect(shown(plan(observed({ source, owner: undefined }), inputs))).toEqual(["report NamespaceHasNoOwner"]);
  });

  it("skips a hook that no runner has run by the deadline of a deletion", () => {
    const stuck = observed({ source: sourceWith({ metadata: deleting }), deployed });
    expect(shown(plan(stuck, { ...inputs, now: Date.parse(at) + 90_001 }))).toEqual(["event HookSkipped", ...endWork]);
  });

  it("runs nothing before the hooks of a new version have succeeded, except if it restores a lost entry or is paused", () => {
    const writtenOf = (given: Partial<Observed>) =>
      plan(observed(given), inputs).find((step) => step.do === "write-deployment")?.deployment.startsWith;
    expect(writtenOf({})).toEqual(["activate"]);
    expect(writtenOf({ source: sourceWith({ status: settledStatus }) })).toBeUndefined();
    expect(writtenOf({ source: sourceWith({ spec: { active: false } }) })).toBeUndefined();
  });

  it("increments the generation when other code is deployed for the same spec, so that hooks run", () => {
    const [, write] = plan(
      observed({ source: sourceWith({ status: settledStatus }), deployed: { ...deployed, bundle: "b0" }, hooks: { deactivate: ran(1) } }),
      inputs,
    );
    expect(write).toMatchObject({ deployment: { generation: 2, sourceGeneration: 1, bundle: "b1" } });
  });

  it("settles secrets with all references of the generation", () => {
    const secrets = { token: { secretKeyRef: { name: "orders-x", key: "token" } } };
    const source = sourceWith({ metadata: { generation: 3 }, spec: { secrets } });
    const steps = plan(
      observed({ source, deployed: { ...deployed, generation: 3, sourceGeneration: 3 }, hooks: { activate: ran(3) } }),
      inputs,
    );
    expect(steps.find((step) => step.do === "settle-secrets")).toEqual({
      do: "settle-secrets",
      references: [secrets.token],
    });
  });

  it("reports a transient reason in Reconciling and a lasting one in Stalled", () => {
    const conditions = (given: Partial<Observed>) =>
      plan(observed(given), inputs).flatMap((step) =>
        step.do === "report" ? readyConditions(step.verdict).map(({ type, status }) => `${type}=${status}`) : [],
      );
    expect(conditions({ component: { ...component, status: {} } })).toEqual(["Ready=False", "Reconciling=True", "Stalled=False"]);
    expect(conditions({ owner: undefined })).toEqual(["Ready=False", "Reconciling=True", "Stalled=False"]);
    const invalid = { blocked: { reason: "CodeInvalid", message: "", transient: false, poll: true } } as const;
    expect(conditions({ code: invalid })).toEqual(["Ready=False", "Reconciling=False", "Stalled=True"]);
    expect(conditions({ deployed, hooks: { activate: ran(1) } })).toEqual(["Ready=True", "Reconciling=False", "Stalled=False"]);
  });
});

describe("the name of a source's own component", () => {
  it("has at most 63 characters and differs for sources whose names are truncated to the same text", () => {
    const [a, b] = ["a", "b"].map((end) => ownComponentName(`${"x".repeat(62)}${end}`));
    expect(a).toHaveLength(63);
    expect(a).not.toBe(b);
    expect(ownComponentName("orders")).toBe("orders-code");
  });
});
