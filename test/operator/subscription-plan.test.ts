import { emptyWorkflow, type WorkflowStatus } from "../../crds/workflow.ts";
import { describe, expect, it } from "vitest";
import { defaultSettings } from "../../crds/source.ts";
import type { Emitter, Listener } from "../../operator/subscription/ends.ts";
import { judge, type JudgeInput } from "../../operator/subscription/plan.ts";
import { reaches, reachOf, type Reach } from "../../operator/reach.ts";
import { metadata } from "./metadata.ts";

const of = (kind: string) => ({ apiVersion: "headwater.dev/v1alpha1", kind, metadata });
const webhook = (given: { active?: boolean; invalid?: string } = {}): NonNullable<Listener["found"]> => ({
  kind: "webhook",
  webhook: {
    ...of("Webhook"),
    spec: { url: "https://shop.test/hook", active: given.active ?? true, signingKeys: [] },
    status: { id: "wh_1" },
    ...(given.invalid === undefined ? {} : { invalid: given.invalid }),
  },
});
const source: NonNullable<Listener["found"]> = {
  kind: "source",
  source: {
    ...of("Source"),
    spec: { code: "", ...defaultSettings },
    status: { id: "dc_2", pool: "fast" },
  },
};

const workflow = (given: { invalid?: string; status?: WorkflowStatus } = {}): NonNullable<Listener["found"]> => ({
  kind: "workflow",
  workflow: {
    ...of("Workflow"),
    spec: emptyWorkflow,
    status: { id: "p_1", ...given.status },
    ...(given.invalid === undefined ? {} : { invalid: given.invalid }),
  },
});

const running: WorkflowStatus = { deployment: "d_1", active: true, pool: "fast" };

const emitter = (given: Partial<Emitter> = {}): Emitter => ({ id: "dc_1", owner: "u_1", shown: "dc_1", ...given });
const listener = (given: Partial<Listener> = {}): Listener => ({
  id: "wh_1",
  owner: "u_1",
  shown: "wh_1",
  found: webhook(),
  keys: { keys: ["sealed"] },
  ...given,
});
const member: Reach = { owner: "u_1", organizations: new Set(["o_1"]) };
const organization: Reach = { owner: "o_1", organizations: new Set() };

const onChannel = (channel: string): JudgeInput["subscription"] => ({
  ...of("Subscription"),
  spec: { emitter: "dc_1", listener: "wh_1", channel },
  status: {},
});

function judged(given: Partial<JudgeInput> = {}): JudgeInput {
  return { id: "sub_1", subscription: onChannel(""), reach: member, emitter: emitter(), listener: listener(), ...given };
}

const unkeyed = { problem: { reason: "SigningKeyNotFound", transient: true, message: "gone" } } as const;
const forbidden = { problem: { reason: "UrlForbidden", transient: false, message: "10.0.0.5 is a private address" } } as const;

describe("the verdict on a subscription", () => {
  it.each<[string, Partial<JudgeInput>, string]>([
    ["of what is the owner's own", {}, "Routed"],
    ["in a namespace without an owner", { reach: undefined }, "NamespaceHasNoOwner"],
    ["to an emitter that does not exist", { emitter: emitter({ owner: undefined }) }, "EmitterNotFound"],
    ["to a reference without a resource", { emitter: emitter({ id: undefined }) }, "EmitterNotFound"],
    ["to another user's emitter", { emitter: emitter({ owner: "u_2" }) }, "EmitterNotFound"],
    ["to an emitter of the user's organization", { emitter: emitter({ owner: "o_1" }) }, "Routed"],
    ["to an emitter of an organization of others", { emitter: emitter({ owner: "o_2" }) }, "EmitterNotFound"],
    ["to the user's organization", { emitter: emitter({ id: "o_1", owner: "o_1" }) }, "Routed"],
    ["to an organization of others", { emitter: emitter({ id: "o_2", owner: "o_2" }) }, "EmitterNotFound"],
    ["to the user themself", { emitter: emitter({ id: "u_1", owner: "u_1" }) }, "Routed"],
    ["to another user", { emitter: emitter({ id: "u_2", owner: "u_2" }) }, "EmitterNotFound"],
    ["of an organization to a user", { reach: organization, emitter: emitter({ id: "u_1" }) }, "EmitterNotFound"],
    ["to all of the owner's", { emitter: emitter({ id: "dc_*" }) }, "Routed"],
    ["to a workflow of the user's organization", { emitter: emitter({ id: "p_1", owner: "o_1" }) }, "Routed"],
    ["to a workflow of others", { emitter: emitter({ id: "p_1", owner: "u_2" }) }, "EmitterNotFound"],
    [
      "of an organization to its own",
      { reach: organization, emitter: emitter({ owner: "o_1" }), listener: listener({ owner: "o_1" }) },
      "Routed",
    ],
    ["of an organization to a member's emitter", { reach: organization, listener: listener({ owner: "o_1" }) }, "EmitterNotFound"],
    ["of an organization for a member's listener", { reach: organization, emitter: emitter({ owner: "o_1" }) }, "ListenerNotFound"],
    ["for no listener", { listener: listener({ found: undefined, owner: undefined, keys: undefined }) }, "ListenerNotFound"],
    ["for another user's webhook", { listener: listener({ owner: "u_2", keys: undefined }) }, "ListenerNotFound"],
    ["for another user's source", { listener: listener({ id: "dc_2", owner: "u_2", found: source, keys: undefined }) }, "ListenerNotFound"],
    [
      "for a source of the user's organization",
      { listener: listener({ id: "dc_2", owner: "o_1", found: source, keys: undefined }) },
      "Routed",
    ],
    ["for another user's workflow", { listener: listener({ id: "p_1", owner: "u_2", found: workflow() }) }, "ListenerNotFound"],
    ["for a workflow that is not deployed", { listener: listener({ id: "p_1", found: workflow() }) }, "Queued"],
    ["for a workflow that is deployed and active", { listener: listener({ id: "p_1", found: workflow({ status: running }) }) }, "Routed"],
    [
      "for a workflow that is switched off",
      { listener: listener({ id: "p_1", found: workflow({ status: { ...running, active: false } }) }) },
      "Queued",
    ],
    [
      "for a workflow whose spec does not fit",
      { listener: listener({ id: "p_1", found: workflow({ invalid: "spec.steps: none" }) }) },
      "ListenerNotReady",
    ],
    ["for a webhook without an owner", { listener: listener({ owner: undefined }) }, "ListenerNotFound"],
    ["for a webhook that is switched off", { listener: listener({ found: webhook({ active: false }) }) }, "ListenerInactive"],
    ["for a webhook without a key", { listener: listener({ keys: unkeyed }) }, "ListenerNotReady"],
    ["for a webhook at a private address", { listener: listener({ keys: forbidden }) }, "ListenerNotReady"],
    [
      "for a webhook whose spec does not fit",
      { listener: listener({ found: webhook({ invalid: "spec.url: none" }) }) },
      "ListenerNotReady",
    ],
    ["of a source to itself", { listener: listener({ id: "dc_1", found: source, keys: undefined }) }, "SelfSubscription"],
    [
      "of a source to a channel of its own",
      { subscription: onChannel("tasks"), listener: listener({ id: "dc_1", found: source, keys: undefined }) },
      "Routed",
    ],
    [
      "of a workflow to itself",
      { emitter: emitter({ id: "p_1" }), listener: listener({ id: "p_1", found: workflow({ status: running }), keys: undefined }) },
      "SelfSubscription",
    ],
    [
      "of a workflow to a channel of its own",
      {
        emitter: emitter({ id: "p_1" }),
        subscription: onChannel("tasks"),
        listener: listener({ id: "p_1", found: workflow({ status: running }), keys: undefined }),
      },
      "Routed",
    ],
    [
      "of a source to its own errors",
      { subscription: onChannel("$errors"), listener: listener({ id: "dc_1", found: source, keys: undefined }) },
      "SelfSubscription",
    ],
  ])("%s", (_what, given, reason) => {
    const verdict = judge(judged(given));
    const isReady = reason === "Routed" || reason === "Queued";
    expect([verdict.reason, verdict.ready, verdict.route !== undefined]).toEqual([reason, isReady, isReady]);
  });

  it.each<[string, Partial<JudgeInput>]>([
    ["an owner of the namespace", { reach: undefined }],
    ["an emitter", { emitter: emitter({ owner: undefined }) }],
    ["a listener", { listener: listener({ owner: undefined }) }],
    ["a key", { listener: listener({ keys: unkeyed }) }],
  ])("waits for %s", (_what, given) => {
    expect(judge(judged(given)).transient).toBe(true);
  });

  it.each<[string, Partial<JudgeInput>]>([
    ["a webhook at a private address", { listener: listener({ keys: forbidden }) }],
    ["a webhook whose spec does not fit", { listener: listener({ found: webhook({ invalid: "spec.url: none" }) }) }],
    ["a webhook that is switched off", { listener: listener({ found: webhook({ active: false }) }) }],
    ["itself", { listener: listener({ id: "dc_1", found: source, keys: undefined }) }],
  ])("is stuck with %s as its listener", (_what, given) => {
    const { transient, ready } = judge(judged(given));
    expect([transient, ready]).toEqual([false, false]);
  });

  it("reports resources of others exactly like missing ones", () => {
    const ends = (owner: string | undefined): readonly Partial<JudgeInput>[] => [
      { emitter: emitter({ owner }) },
      { listener: listener({ owner, found: owner === undefined ? undefined : webhook(), keys: undefined }) },
    ];
    expect(ends("u_2").map((given) => judge(judged(given)))).toEqual(ends(undefined).map((given) => judge(judged(given))));
  });

  it("routes to the pool of a workflow while it is deployed and active, else to its queue", () => {
    const listenerOf = (status: WorkflowStatus) =>
      judge(judged({ listener: listener({ id: "p_1", found: workflow({ status }), keys: undefined }) })).route?.listener;
    expect(listenerOf({})).toEqual({ kind: "workflow", id: "p_1" });
    expect(listenerOf({ ...running, active: false })).toEqual({ kind: "workflow", id: "p_1" });
    expect(listenerOf(running)).toEqual({ kind: "workflow", id: "p_1", pool: "fast" });
  });

  it("adds the emitter's owner to the route if it is another owner", () => {
    const route = (given: Partial<Emitter>) => judge(judged({ emitter: emitter(given) })).route;
    expect(route({ owner: "o_1" })).toMatchObject({ owner: "u_1", emitter: "dc_1", emitterOwner: "o_1" });
    expect(route({})).not.toHaveProperty("emitterOwner");
    expect(route({ id: "o_1", owner: "o_1" })).not.toHaveProperty("emitterOwner");
  });
});

describe("the reach of an owner", () => {
  const requested: string[] = [];
  const memberships = {
    isMember: async (user: string, of: string) => {
      requested.push(`${user} ${of}`);
      return user === "u_1" && of === "o_1";
    },
  };

  it("includes its own resources, and for a user those of their organizations", async () => {
    const reach = async (owner: string, other: string) => reaches(await reachOf(owner, [other], memberships), other);
    expect(await reach("u_1", "u_1")).toBe(true);
    expect(await reach("u_1", "o_1")).toBe(true);
    expect(await reach("u_1", "o_2")).toBe(false);
    expect(await reach("u_1", "u_2")).toBe(false);
    expect(await reach("u_2", "o_1")).toBe(false);
    expect(await reach("o_1", "o_1")).toBe(true);
    expect(await reach("o_1", "o_2")).toBe(false);
    expect(await reach("o_1", "u_1")).toBe(false);
    expect(requested).toEqual(["u_1 o_1", "u_1 o_2", "u_2 o_1"]);
  });
});
