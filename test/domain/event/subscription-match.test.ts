import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Route } from "../../../domain/source/deployment.ts";
import { matches, RouteIndex, type EmittedEvent } from "../../../domain/event/subscription-match.ts";

const owner = fc.constantFrom("u_1", "u_2", "o_1", "o_2");
const emitter = fc.constantFrom("dc_1", "dc_2", "p_1", "p_2");
const channel = fc.constantFrom("", "$errors", "$logs", "custom", "a b", "u_1 custom");
const event: fc.Arbitrary<EmittedEvent> = fc.record({ emitter, owner, channel });
const route: fc.Arbitrary<Route> = fc.record(
  {
    subscription: fc.nat(15).map((n) => `sub_${n}`),
    owner,
    emitter: fc.oneof(emitter, fc.constantFrom("dc_*", "p_*", "o_1", "o_2", "u_1", "u_2")),
    emitterOwner: owner,
    channel,
    listener: fc.constant({ kind: "source" as const, id: "dc_9", pool: "default" }),
  },
  { requiredKeys: ["subscription", "owner", "emitter", "channel", "listener"] },
);

describe("matching", () => {
  const base = { owner: "u_1", channel: "" };
  test("an emitter matches on its channel while the subscriber, or the named owner, owns it", () => {
    fc.assert(
      fc.property(event, owner, fc.option(owner, { nil: undefined }), channel, (emitted, subscriber, other, wanted) => {
        const named = { emitter: emitted.emitter, owner: subscriber, ...(other === undefined ? {} : { emitterOwner: other }) };
        expect(matches({ ...named, channel: wanted }, emitted)).toBe(wanted === emitted.channel && (other ?? subscriber) === emitted.owner);
      }),
    );
  });
  test("another owner's emitter does not match by its id", () => {
    const emitted = { emitter: "dc_1", owner: "u_2", channel: "" };
    expect(matches({ ...base, emitter: "dc_1" }, emitted)).toBe(false);
    expect(matches({ ...base, emitter: "dc_1", emitterOwner: "o_1" }, emitted)).toBe(false);
    expect(matches({ ...base, emitter: "dc_1", emitterOwner: "u_2" }, emitted)).toBe(true);
  });
  test("a glob matches its kind within the owner of the subscription", () => {
    fc.assert(
      fc.property(event, owner, fc.constantFrom("dc", "p"), (emitted, subscriber, prefix) => {
        expect(matches({ emitter: `${prefix}_*`, owner: subscriber, channel: emitted.channel }, emitted)).toBe(
          emitted.emitter.startsWith(`${prefix}_`) && subscriber === emitted.owner,
        );
      }),
    );
  });
  test("an organization stands for the errors of its workflows", () => {
    const failed = { emitter: "p_1", owner: "o_1", channel: "$errors" };
    expect(matches({ ...base, emitter: "o_1" }, failed)).toBe(true);
    expect(matches({ ...base, emitter: "o_1", channel: "$errors" }, failed)).toBe(true);
    expect(matches({ ...base, emitter: "o_1", channel: "$logs" }, failed)).toBe(false);
    expect(matches({ ...base, emitter: "o_2" }, failed)).toBe(false);
    expect(matches({ ...base, emitter: "o_1" }, { ...failed, emitter: "dc_1" })).toBe(false);
    expect(matches({ ...base, emitter: "o_1" }, { ...failed, channel: "" })).toBe(false);
  });
});

describe("a user as emitter", () => {
  const heard = (channel: string, emitted: Partial<EmittedEvent>): boolean =>
    matches({ owner: "u_1", emitter: "u_1", channel }, { emitter: "dc_1", owner: "u_1", channel: "$errors", ...emitted });

  test("matches the errors or the logs of all their sources and workflows", () => {
    for (const emitter of ["dc_1", "p_1"])
      for (const channel of ["$errors", "$logs"]) expect(heard(channel, { emitter, channel })).toBe(true);
    expect(heard("", { channel: "$errors" })).toBe(true);
  });

  test.each<[string, Partial<EmittedEvent>]>([
    ["", { channel: "$logs" }],
    ["", { channel: "" }],
    ["$errors", { channel: "$logs" }],
    ["news", { channel: "news" }],
    ["$errors", { owner: "u_2" }],
    ["$errors", { owner: "o_1" }],
  ])("with the channel '%s' does not match %j", (channel, emitted) => {
    expect(heard(channel, emitted)).toBe(false);
  });
});

/** Oracle: ask every route. */
test("the index finds the routes that match, through additions, replacements and removals", () => {
  const change = fc.oneof(
    route.map((set) => ({ set })),
    fc.nat(15).map((n) => ({ remove: `sub_${n}` })),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), fc.array(event, { minLength: 1, maxLength: 20 }), (changes, events) => {
      const index = new RouteIndex();
      const all = new Map<string, Route>();
      for (const each of changes) {
        if ("set" in each) {
          index.set(each.set);
          all.set(each.set.subscription, each.set);
        } else {
          index.remove(each.remove);
          all.delete(each.remove);
        }
      }
      expect(index.size).toBe(all.size);
      const byName = (routes: Iterable<Route>): string[] => [...routes].map(({ subscription }) => subscription).sort();
      for (const emitted of events)
        expect(byName(index.listeners(emitted))).toEqual(byName([...all.values()].filter((r) => matches(r, emitted))));
    }),
  );
});
