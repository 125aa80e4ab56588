import { describe, expect, it } from "vitest";
import { emptyState } from "../../../domain/run/commit.ts";
import { composeCommit, type Ran } from "../../../runner/commit/compose.ts";
import type { Emit, Execution } from "../../../runner/sandbox/port.ts";
import { deployment } from "../support.ts";
import { positionAt } from "../position.ts";

const emit = (n: number, more: Partial<Emit> = {}): Emit => ({
  payload: JSON.stringify({ n }),
  at: 1_000 + n,
  ...more,
});
const products = { emits: [], logs: [], db: {}, response: null, durationMs: 5, cpuMs: 1 };
const returned = (more: object = {}): Execution => ({ outcome: "returned", result: null, ...products, ...more });
const ran = (execution: Execution, more: Partial<Ran> = {}): Ran => ({
  deployment,
  invocation: { source: "dc_1", trigger: "http" },
  position: positionAt(9, 2),
  runId: "r_1",
  startedAt: 1,
  execution,
  event: '{"asked":1}',
  skippedTicks: 0,
  skippedDue: [],
  ...more,
});
let ids = 0;
const compose = (input: Ran, state = emptyState) => composeCommit(input, state, 5_000, () => `e${ids++}`);

describe("composeCommit", () => {
  it("numbers events upwards, even when the clock stands behind the last one", () => {
    const commit = compose(ran(returned({ emits: [emit(1), emit(2)] })), { ...emptyState, lastEventId: "6000-0" });
    expect(commit.events.map(({ id }) => id)).toEqual(["6000-1", "6000-2"]);
    expect(commit.state.lastEventId).toBe("6000-2");
  });

  it("passes hops on, and remembers the last link of a chain beside those of other props", () => {
    const link = ran(returned(), {
      invocation: { source: "dc_1", trigger: "timer", chain: "timer", at: 60_000, hops: 3 },
    });
    const commit = compose(link, { ...emptyState, links: { other: 1 } });
    expect([commit.hops, commit.state.links]).toEqual([3, { other: 1, timer: 60_000 }]);
    expect(compose(ran(returned()), commit.state).state.links).toEqual(commit.state.links);
  });

  it("tells when the tick was due, and which were skipped before it", () => {
    const tick = ran(returned(), {
      invocation: { source: "dc_1", trigger: "timer" },
      dueAt: 900,
      skippedTicks: 2,
      skippedDue: [700, 800],
    });
    const { run, logs } = compose(tick);
    expect(run).toMatchObject({ dueAt: 900, skippedTicks: [700, 800] });
    expect(logs[0]?.msg).toMatch(/^2 ticks were skipped/);
    expect(compose(ran(returned())).run).not.toHaveProperty("skippedTicks");
  });

  it("keeps what a failed run was given, unless that is large, and nothing of others", () => {
    const threw: Execution = { outcome: "threw", error: { name: "Error", message: "no" }, ...products };
    expect(compose(ran(threw)).run.received).toBe('{"asked":1}');
    expect(compose(ran(threw, { event: JSON.stringify("x".repeat(64 * 1024)) })).run).not.toHaveProperty("received");
    expect(compose(ran(returned())).run).not.toHaveProperty("received");
  });

  it("keeps emits made before a throw, and tells of the error", () => {
    const error = { name: "Error", message: "no" };
    const commit = compose(ran({ outcome: "threw", error, ...products, emits: [emit(1)] }));
    expect(commit.events).toHaveLength(1);
    expect(commit.error).toEqual(error);
    expect(commit.logs.at(-1)).toMatchObject({ k: "error", err: error });
  });

  it("drops what dedupe has seen and remembers what it emits", () => {
    const unique = ran(returned({ emits: [emit(1, { id: "a" }), emit(2, { id: "b" })] }), {
      deployment: { ...deployment, dedupe: "unique" },
    });
    const first = compose(unique);
    expect(compose(unique, first.state).events).toEqual([]);
    expect(first.events.map(({ dedupeId }) => dedupeId)).toEqual(["a", "b"]);
  });

  it("makes an emit without id under a strategy an error of the run", () => {
    const commit = compose(ran(returned({ emits: [emit(1)] }), { deployment: { ...deployment, dedupe: "unique" } }));
    expect(commit.events).toEqual([]);
    expect(commit.error).toMatchObject({ code: "emit_without_id" });
  });

  it("merges changes of the db and forgets keys set to undefined", () => {
    const state = { ...emptyState, db: { db: { kept: "1", gone: "2", changed: "3" } } };
    const commit = compose(ran(returned({ db: { db: { gone: null, changed: "4", new: "5" }, other: { x: "6" } } })), state);
    expect(commit.state.db).toEqual({ db: { kept: "1", changed: "4", new: "5" }, other: { x: "6" } });
  });

  it("keeps a key named __proto__ as a key", () => {
    const commit = compose(ran(returned({ db: { db: JSON.parse('{"__proto__":"1"}') as Record<string, string> } })));
    expect(JSON.stringify(commit.state.db)).toBe('{"db":{"__proto__":"1"}}');
  });

  it("remembers that the invocation is answered and which hook ran how often", () => {
    const hook = ran(returned(), { invocation: { source: "dc_1", trigger: "hook", hook: "activate" } });
    const first = compose(hook);
    expect(first.state.watermarks).toEqual({ "default/hooks": { seq: 9, index: 2, storedAt: 0, committedAt: 5_000 } });
    expect(first.state.hooks.activate).toMatchObject({ generation: 3, attempts: 1, error: null });
    expect(compose(hook, first.state).state.hooks.activate?.attempts).toBe(2);
    expect(first.logs[0]).toMatchObject({ k: "hook", h: "activate" });
  });

  it("drops what a deploy hook emits when it was told to", () => {
    expect(
      compose(
        ran(returned({ emits: [emit(1)] }), {
          invocation: { source: "dc_1", trigger: "hook", hook: "deploy", discardEvents: true },
        }),
      ).events,
    ).toEqual([]);
  });

  it("masks secrets in what can be read of a run, and not in its events", () => {
    const secrets = { token: "tok-123456", app: { authProvisionId: "apn_1", $auth: { key: "key-123456" } } };
    const text = "tok-123456 and key-123456";
    const masked = "*** and ***";
    const error = { name: "Error", message: text, stack: `Error: ${text}\n    at run` };
    const hook = { source: "dc_1", trigger: "hook", hook: "activate" } as const;
    const logs = [{ k: "console.log", ts: 1, msg: text }];
    const threw: Execution = { outcome: "threw", error, ...products, logs, emits: [emit(1, { payload: JSON.stringify(text) })] };
    const failed = compose(ran(threw, { secrets, event: JSON.stringify({ text }), invocation: hook }));
    expect(failed.error).toEqual({ name: "Error", message: masked, stack: `Error: ${masked}\n    at run` });
    expect(failed.run.received).toBe(JSON.stringify({ text: masked }));
    expect(failed.logs).toMatchObject([{ h: "activate" }, { msg: masked }, { err: { message: masked } }]);
    expect(failed.state.hooks.activate?.error?.message).toBe(masked);
    expect(failed.events[0]?.payload).toBe(JSON.stringify(text));
    const done = compose(ran(returned({ result: JSON.stringify([text, "other"]) }), { secrets }));
    expect(done.run.result).toBe(JSON.stringify([masked, "other"]));
  });

  it("commits a run whose process died twice as an error of its own", () => {
    const { error, state } = compose(ran({ outcome: "crashed", message: "SIGKILL" }));
    expect(error).toMatchObject({ code: "runner_crash" });
    expect(state.kills).toBeUndefined();
  });

  it("counts a crash that cost its process towards disabling the source", () => {
    const { error, state } = compose(ran({ outcome: "crashed", message: "SIGKILL", costProcess: true }));
    expect(error).toMatchObject({ code: "runner_crash" });
    expect(state.kills).toMatchObject({ inRow: 1 });
  });
});
