import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { cases, dedupes } from "./support/run-semantics-components.ts";
import { payloads, withRunWorld, type Run } from "./support/run-world.ts";
import type { Source } from "../support/system/sources.ts";

/** Rules of a run. Each row is one run of a component that has a function per case. */
const world = withRunWorld();
const { stored } = world;
let source: Source;
beforeAll(async () => {
  source = await world.deploy(cases);
});
const act = (name: string): Promise<Run> => world.run({ act: name }, source);
const eventsOf = (ran: Run, from = source): ReturnType<typeof world.eventsOf> => world.eventsOf(ran, from);

describe("$emit", () => {
  it.each<readonly [string, readonly unknown[]]>([
    [
      "anyEvent",
      [null, null, null, "1970-01-01T00:00:00.000Z", { d: "1970-01-01T00:00:00.000Z", n: null, m: {} }, [null, null], "text", 0],
    ],
    ["changedLater", [{ n: 1 }]],
    ["order", ["a", "b1", "b2", "c"]],
    ["noTsIsNow", ["past", "now", "future"]],
    ["later", ["at once", "later, without waiting"]],
    ["afterTimer", ["in time"]],
    ["afterRequest", []],
    ["nul", ["a\u0000b"]],
    ["surrogates", ["\ud800"]],
  ])("%s", async (name, events) => {
    const ran = await act(name);
    expect(ran.error).toBeNull();
    expect(payloads(await eventsOf(ran))).toEqual(events);
  });

  it.each([
    ["aFunction", "emit_not_json", `emit 2 of this run ("second"): the event is a function`],
    ["aSymbol", "emit_not_json", "the event is a symbol"],
    ["bigInt", "emit_not_json", "BigInt"],
    ["cyclic", "emit_not_json", "circular"],
    ["idObject", "invalid_emit_id", `emit 1 of this run ("the odd one")`],
    ["idNaN", "invalid_emit_id", "got NaN"],
    ["nameObject", "invalid_emit_name", "must be a string, got {}"],
    ["reservedName", "reserved_channel", `emit 2 of this run ("forged"): its name (the channel) is '$errors'`],
    ["overMegabyte", "emit_too_large", `emit 1 of this run ("big")`],
    ["eleven", "emit_limit", "10000 events"],
    ["sixMegabytes", "emit_limit", "6291456 bytes"],
  ])("%s is the error %s", async (name, code, message) => {
    const { error, logs, status } = await act(name);
    expect([status, error]).toMatchObject(["failed", { code, message: expect.stringContaining(message) as string }]);
    expect(logs.at(-1)).toMatchObject({ k: "error", err: { code } });
  });

  it("accepts ts in every valid form, and uses the time of the call otherwise", async () => {
    const before = Date.now();
    const times = (await eventsOf(await act("times"))).map(({ metadata: { ts } }) => ts);
    expect(times.slice(0, 5)).toEqual([5, 6, 7, 8, 9]);
    expect(times.slice(5).every((ts) => ts >= before && ts <= Date.now())).toBe(true);
    expect(times).toHaveLength(13);
  });

  it("stores id, name and summary as strings, whatever type they had", async () => {
    const events = (await eventsOf(await act("meta"))).map(({ event, metadata: { id, name, summary } }) => [
      event,
      id ?? null,
      name,
      summary?.slice(0, 10) ?? null,
    ]);
    expect(events).toEqual([
      [1, "7", "chan", "5"],
      [2, "7", "", "{ a: 1 }"],
      [3, "1970-01-01T00:00:00.000Z", "", null],
      [4, null, "", null],
      [5, null, "", null],
      [6, "100000000000000000000", "", "xxxxxxxxxx"],
      [7, "507f", "", null],
    ]);
  });

  it("stores events and db writes from before a throw", async () => {
    const ran = await act("beforeThrow");
    expect([ran.status, ran.error?.message]).toEqual(["failed", "after"]);
    expect(payloads(await eventsOf(ran))).toEqual(["kept"]);
    expect((await act("dbNext")).result).toEqual([null, true]);
  });

  it("accepts an event of 1 MiB, five events full of quotes, and 10,000 events in one run", async () => {
    expect(payloads(await eventsOf(await act("megabyte")))).toEqual(["x".repeat(2 ** 20 - 2)]);
    const quotes = await act("quotes");
    expect([quotes.error, quotes.event_ids.length]).toEqual([null, 5]);
    const many = await act("ten");
    expect([many.error, many.event_ids.length]).toEqual([null, 10_000]);
    await until(
      async () => (await stored(source)).at(-1)?.event !== undefined && payloads(await stored(source, 1)).join() === "[object Object]",
      "the events are stored",
    );
    expect(payloads(await stored(source, 3))).toEqual([{ n: 9_997 }, { n: 9_998 }, { n: 9_999 }]);
  });
});

describe("dedupe", () => {
  type Emit = { readonly id?: unknown; readonly ts?: number; readonly summary?: string };
  const long = "x".repeat(5_000);
  const of = (...ids: readonly unknown[]): readonly Emit[] => ids.map((id) => ({ id }));
  it.each<readonly [string, string, readonly (readonly [emits: readonly Emit[], kept: readonly unknown[]])[]]>([
    [
      "unique",
      "ids of any length, with numbers as strings",
      [
        [of(1, "1", `${long}a`, `${long}b`, `${long}a`), [1, `${long}a`, `${long}b`]],
        [of("1", `${long}b`, `${long}c`), [`${long}c`]],
      ],
    ],
    [
      "greatest",
      "as numbers",
      [
        [of(9, "10", 2, "11"), [9, "10", "11"]],
        [of("9", 11, 100, "99", "9007199254740993", "9007199254740992"), [100, "9007199254740993"]],
      ],
    ],
    [
      "last",
      "by ts, in any order",
      [
        [
          [
            { id: "b", ts: 2 },
            { id: "c", ts: 3 },
            { id: "a", ts: 1 },
          ],
          ["a", "b", "c"],
        ],
        [
          [
            { id: "d", ts: 4 },
            { id: "c", ts: 3 },
            { id: "b", ts: 2 },
          ],
          ["d"],
        ],
        [of("x", "y"), ["x", "y"]],
      ],
    ],
  ])("%s: %s", async (strategy, _, runs) => {
    const deduping = await world.deploy(dedupes(strategy));
    for (const [emits, kept] of runs) {
      const ran = await world.run({ emits }, deduping);
      expect(ran.error).toBeNull();
      expect(payloads(await eventsOf(ran, deduping))).toEqual(kept);
    }
    const wrong = await world.run({ emits: [{ summary: "no id here" }, { id: "", summary: "empty" }, { id: 50 }] }, deduping);
    expect(wrong.error).toMatchObject({ code: "emit_without_id", message: expect.stringContaining("no id here") as string });
    expect(wrong.logs.filter(({ k }) => k === "error")).toHaveLength(2);
    expect(wrong.event_ids).toHaveLength(strategy === "greatest" ? 0 : 1);
  });
});

describe("db", () => {
  it.each<readonly [string, unknown]>([
    ["dbSync", [1, 2, true, true]],
    ["dbNext", [2, true]],
    ["dbDelete", true],
    ["dbNext", [null, true]],
    ["dbCopies", { a: 1 }],
    ["dbKeys", null],
    ["dbKeysRead", ["__proto__", "constructor", "", "a.b", "ключ", "5", "null", "none"]],
  ])("%s", async (name, result) => {
    const ran = await act(name);
    expect([ran.error, ran.result]).toEqual([null, result]);
  });

  it.each([
    ["dbOneTooLarge", "db_too_large", "db key 'k'"],
    ["dbFunction", "db_not_json", "db key 'f' is a function"],
    ["dbCyclic", "db_not_json", "db key 'c' cannot be made JSON"],
    ["dbBigInt", "db_not_json", "BigInt"],
    ["dbTooLarge", "db_too_large", "the limit is 61440"],
  ])("%s is the error %s", async (name, code, message) => {
    expect((await act(name)).error).toMatchObject({ code, message: expect.stringContaining(message) as string });
    expect((await act("dbTooLargeRead")).result).toEqual(["none", "none"]);
  });
});

describe("the log", () => {
  const lines = async (name: string): Promise<readonly (readonly [string, string])[]> =>
    (await act(name)).logs.map(({ k, msg }) => [k, msg ?? ""]);

  it("has a line for each call, with its level, formatted as in Node", async () => {
    expect(await lines("levels")).toEqual(
      ["log", "info", "warn", "error", "debug"].map((level) => [`console.${level}`, `${level} { a: 1 }`]),
    );
    expect(await lines("printed")).toEqual([
      [
        "console.log",
        "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘",
      ],
      ["console.log", "g"],
      ["console.log", "  in\n  side"],
      ["console.log", "default: 1"],
      ["console.log", "default: 2"],
      ["console.warn", "Assertion failed: no"],
      ["console.log", "{ a: [Object] }"],
      ["console.warn", "No such label 'nothing' for console.timeEnd()"],
      ["console.log", "x is 5 Map(1) { 'k' => [ 1 ] }"],
    ]);
  });

  it("truncates lines of 10 MB and the log at 6 MiB, without failing the run", async () => {
    const big = await act("bigLog");
    expect([big.error, big.logs.length, big.logs.every(({ msg = "" }) => msg.length < 17_000 && msg.includes("cut at"))]).toEqual([
      null,
      2,
      true,
    ]);
    const many = await act("manyLogs");
    expect([many.error, many.event_ids.length]).toEqual([null, 1]);
    expect(many.logs.length).toBeLessThan(400);
    expect(many.logs.at(-1)?.msg).toContain("log_limit");
    expect((await act("throwingGetter")).logs[0]?.msg).toContain("cannot be shown");
  });

  it("names the line that started work which the end of the run dropped", async () => {
    const line = cases.split("\n").findIndex((text) => text.includes("afterTimer()")) + 1;
    const [lost] = await lines("afterTimer");
    expect(lost?.[0]).toBe("console.warn");
    expect(lost?.[1]).toMatch(new RegExp(`^lost_work: .*\\n- setTimeout of 1 ms\\n {4}at \\S*afterTimer \\(\\S+:${line}:\\d+\\)`));
  });

  it("shows errors with line numbers of the component's file", async () => {
    const [logged] = (await act("loggedError")).logs;
    expect(logged?.msg).toMatch(/^caught RangeError: deep\n {4}at \S+deep \(\S+:4:20\)/);
    expect(logged?.msg).not.toContain("sandbox:");
  });
});

describe("errors", () => {
  it.each<readonly [string, object]>([
    [
      "throwsError",
      { name: "RangeError", message: "deep", stack: expect.stringMatching(/^RangeError: deep\n {4}at \S*deep \(\S+:4:20\)/) },
    ],
    ["throwsText", { message: "just text" }],
    ["throwsObject", { message: `{"status":500,"reason":"odd"}` }],
    ["throwsNothing", { message: "undefined" }],
    ["throwsCause", { message: "outer", stack: expect.stringMatching(/\[cause\]: TypeError: inner/) }],
    [
      "throwsAggregate",
      { name: "AggregateError", stack: expect.stringMatching(/\[errors\]\[0\]: TypeError: one[\s\S]*\[errors\]\[1\]: two/) },
    ],
    ["rejects", { name: "RangeError", message: "rejected" }],
    ["unhandled", { name: "RangeError", message: "no handler", stack: expect.stringContaining("unhandled") }],
    ["inTimer", { name: "RangeError", stack: expect.stringMatching(/:4:20/) }],
    ["stalls", { code: "run_stalled" }],
    ["respondTwice", { code: "already_responded" }],
  ])("%s", async (name, error) => {
    const ran = await act(name);
    expect([ran.status, ran.error]).toMatchObject(["failed", error]);
    expect(ran.logs.at(-1)?.k).toBe("error");
  });

  it.each<readonly [string, unknown]>([
    ["returns", { a: [1, null], d: "1970-01-01T00:00:00.000Z" }],
    ["returnsCyclic", null],
  ])("%s", async (name, result) => expect(await act(name)).toMatchObject({ status: "succeeded", result }));

  it("has nothing in process.env but the source's id", async () => {
    expect((await act("env")).result).toEqual([{ PD_COMPONENT: source.id }, ["PD_COMPONENT"]]);
  });
});
