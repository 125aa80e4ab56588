import { describe, expect, it } from "vitest";
import { emptyState } from "../../../domain/run/commit.ts";
import { composeCommit, type FinishedRun } from "../../../runner/commit/compose.ts";
import type { Emit, Execution } from "../../../runner/sandbox/port.ts";
import { deployment, positionAt } from "../support.ts";

const emit = (n: number, more: Partial<Emit> = {}): Emit => ({
  payload: JSON.stringify({ n }),
  at: 1_000 + n,
  ...more,
});
const products = { emits: [], logs: [], db: {}, response: null, durationMs: 5, cpuMs: 1 };
const returned = (more: object = {}): Execution => ({ outcome: "returned", result: null, ...products, ...more });
const finished = (execution: Execution, more: Partial<FinishedRun> = {}): FinishedRun => ({
  deployment,
  invocation: { source: "dc_1", trigger: "http" },
  position: positionAt(9, 2),
  runId: "r_1",
  queuedAt: 0,
  startedAt: 1,
  execution,
  event: '{"given":1}',
  skippedTicks: 0,
  skippedDue: [],
  ...more,
});
let ids = 0;
const compose = (input: FinishedRun, state = emptyState) => composeCommit(input, state, 5_000, () => `e${ids++}`);

describe("composeCommit", () => {
  it("numbers events upwards, even if the clock is behind the last event", () => {
    const commit = compose(finished(returned({ emits: [emit(1), emit(2)] })), { ...emptyState, lastEventId: "6000-0" });
    expect(commit.events.map(({ id }) => id)).toEqual(["6000-1", "6000-2"]);
    expect(commit.state.lastEventId).toBe("6000-2");
  });

  it("records what led to the run, how long it waited, the emits that dedupe dropped and the changed keys, without secrets", () => {
    const metadata = { emit_id: "em_1", name: "", emitter_id: "dc_2", ts: 1 };
    const invocation = { source: "dc_1", trigger: "event", metadata } as const;
    const emits = [emit(1, { id: "seen" }), emit(2, { id: "new" })];
    const execution = returned({ emits, db: { db: { "of s3cret": '"a value"', same: "1" } } });
    const more = { invocation, queuedAt: 1, startedAt: 8, startMs: 2.5, secrets: { key: "s3cret" } };
    const state = { ...emptyState, db: { db: { same: "1" } }, dedupe: { strategy: "unique", ids: ["seen"] } } as const;
    const { run } = compose({ ...finished(execution, more), deployment: { ...deployment, dedupe: "unique" } }, state);
    expect(run).toMatchObject({
      cause: { emitter: "dc_2", emitId: "em_1" },
      queuedMs: 7,
      startMs: 2.5,
      duplicates: 1,
      dbChanges: [{ prop: "db", key: "of ***", change: "added", bytes: 9 }],
    });
    expect(JSON.stringify(run.dbChanges)).not.toContain("a value");
    const small = compose(finished(returned(), { queuedAt: 5 })).run;
    for (const field of ["cause", "queuedMs", "startMs", "duplicates", "dbChanges"]) expect(small).not.toHaveProperty(field);
  });

  it("leaves out the time until the code ran if the process ended with the run, since its duration is unknown", () => {
    const error = { name: "Error", message: "out of memory", code: "memory_limit" };
    const limited = { outcome: "limited", error, emits: [], logs: [], db: {}, response: null, durationMs: 0, cpuMs: 0 } as const;
    expect(compose(finished(limited, { startMs: 5 })).run.startMs).toBe(5);
    expect(compose(finished({ ...limited, costProcess: true }, { startMs: 30_000 })).run).not.toHaveProperty("startMs");
  });

  it("passes hops on, and records the last link of a chain beside those of other props", () => {
    const link = finished(returned(), {
      invocation: { source: "dc_1", trigger: "timer", chain: "timer", at: 60_000, hops: 3 },
    });
    const commit = compose(link, { ...emptyState, links: { other: 1 } });
    expect([commit.hops, commit.state.links]).toEqual([3, { other: 1, timer: 60_000 }]);
    expect(compose(finished(returned()), commit.state).state.links).toEqual(commit.state.links);
  });

  it("records when the tick was due, and which ticks were skipped before it", () => {
    const tick = finished(returned(), {
      invocation: { source: "dc_1", trigger: "timer" },
      dueAt: 900,
      skippedTicks: 2,
      skippedDue: [700, 800],
    });
    const { run, logs } = compose(tick);
    expect(run).toMatchObject({ dueAt: 900, skippedTicks: [700, 800] });
    expect(logs[0]?.msg).toMatch(/^2 ticks were skipped/);
    expect(compose(finished(returned())).run).not.toHaveProperty("skippedTicks");
  });

  it("records the whole event of a failed run, and no event of a successful run", () => {
    const threw: Execution = { outcome: "threw", error: { name: "Error", message: "no" }, ...products };
    expect(compose(finished(threw)).run.received).toBe('{"given":1}');
    const large = JSON.stringify("x".repeat(1024 * 1024));
    expect(compose(finished(threw, { event: large })).run.received).toBe(large);
    expect(compose(finished(returned())).run).not.toHaveProperty("received");
  });

  it("keeps emits made before a throw, and records the error", () => {
    const error = { name: "Error", message: "no" };
    const commit = compose(finished({ outcome: "threw", error, ...products, emits: [emit(1)] }));
    expect(commit.events).toHaveLength(1);
    expect(commit.error).toEqual(error);
    expect(commit.logs.at(-1)).toMatchObject({ k: "error", err: error });
  });

  it("drops emits with known dedupe ids and records new ones", () => {
    const unique = finished(returned({ emits: [emit(1, { id: "a" }), emit(2, { id: "b" })] }), {
      deployment: { ...deployment, dedupe: "unique" },
    });
    const first = compose(unique);
    expect(compose(unique, first.state).events).toEqual([]);
    expect(first.events.map(({ dedupeId }) => dedupeId)).toEqual(["a", "b"]);
  });

  it("fails the run when an emit has no id and the source has a dedupe strategy", () => {
    const commit = compose(finished(returned({ emits: [emit(1)] }), { deployment: { ...deployment, dedupe: "unique" } }));
    expect(commit.events).toEqual([]);
    expect(commit.error).toMatchObject({ code: "emit_without_id" });
  });

  it("merges changes into the db and deletes keys set to undefined", () => {
    const state = { ...emptyState, db: { db: { kept: "1", gone: "2", changed: "3" } } };
    const commit = compose(finished(returned({ db: { db: { gone: null, changed: "4", new: "5" }, other: { x: "6" } } })), state);
    expect(commit.state.db).toEqual({ db: { kept: "1", changed: "4", new: "5" }, other: { x: "6" } });
  });

  it("keeps a db key named __proto__", () => {
    const commit = compose(finished(returned({ db: { db: JSON.parse('{"__proto__":"1"}') as Record<string, string> } })));
    expect(JSON.stringify(commit.state.db)).toBe('{"db":{"__proto__":"1"}}');
  });

  it("records the position of the invocation, and how often each hook ran", () => {
    const hook = finished(returned(), { invocation: { source: "dc_1", trigger: "hook", hook: "activate" } });
    const first = compose(hook);
    expect(first.state.watermarks).toEqual({ "default/hooks": { seq: 9, index: 2, storedAt: 0, committedAt: 5_000 } });
    expect(first.state.hooks.activate).toMatchObject({ generation: 3, attempts: 1, error: null });
    expect(compose(hook, first.state).state.hooks.activate?.attempts).toBe(2);
    expect(first.logs[0]).toMatchObject({ k: "hook", h: "activate" });
  });

  it("drops the emits of a hook whose events are discarded", () => {
    expect(
      compose(
        finished(returned({ emits: [emit(1)] }), {
          invocation: { source: "dc_1", trigger: "hook", hook: "deploy", discardEvents: true },
        }),
      ).events,
    ).toEqual([]);
  });

  it("masks secrets in result, received event, logs and error, but not in events", () => {
    const secrets = { token: "tok-123456", app: { authProvisionId: "apn_1", $auth: { key: "key-123456" } } };
    const text = "tok-123456 and key-123456";
    const masked = "*** and ***";
    const error = { name: "Error", message: text, stack: `Error: ${text}\n    at run` };
    const hook = { source: "dc_1", trigger: "hook", hook: "activate" } as const;
    const logs = [{ k: "console.log", ts: 1, msg: text }];
    const threw: Execution = { outcome: "threw", error, ...products, logs, emits: [emit(1, { payload: JSON.stringify(text) })] };
    const failed = compose(finished(threw, { secrets, event: JSON.stringify({ text }), invocation: hook }));
    expect(failed.error).toEqual({ name: "Error", message: masked, stack: `Error: ${masked}\n    at run` });
    expect(failed.run.received).toBe(JSON.stringify({ text: masked }));
    expect(failed.logs).toMatchObject([{ h: "activate" }, { msg: masked }, { err: { message: masked } }]);
    expect(failed.state.hooks.activate?.error?.message).toBe(masked);
    expect(failed.events[0]?.payload).toBe(JSON.stringify(text));
    const done = compose(finished(returned({ result: JSON.stringify([text, "other"]) }), { secrets }));
    expect(done.run.result).toBe(JSON.stringify([masked, "other"]));
  });

  it("commits runner_crash for a run whose process died twice", () => {
    const { error, state } = compose(finished({ outcome: "crashed", message: "SIGKILL" }));
    expect(error).toMatchObject({ code: "runner_crash" });
    expect(state.kills).toBeUndefined();
  });

  it("counts a crash that cost its process towards disabling the source", () => {
    const { error, state } = compose(finished({ outcome: "crashed", message: "SIGKILL", costProcess: true }));
    expect(error).toMatchObject({ code: "runner_crash" });
    expect(state.kills).toMatchObject({ inRow: 1 });
  });
});
