import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventIdOfRun } from "../../../domain/event/event-id.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { WorkflowCommit, Commit } from "../../../domain/run/commit.ts";
import type { CommittedStep, WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { began, committedStep, owner, workflowCommit } from "../../domain/run/workflow-commits.ts";
import { committedEvent } from "../committed-event.ts";
import { withHistory } from "./support.ts";

/** What Postgres has of workflow runs, by the users of the roles that record, read and delete it. */
const postgres = withMigratedPostgres();
const history = withHistory({ kept: { runs: 10, unendedRuns: 20, attempts: 100 } }, postgres);
const all = { limit: 100, cursor: null } as const;
let names = 0;
const newName = (prefix: string): string => `${prefix}${++names}`;

interface Of {
  readonly workflow: string;
  readonly run: string;
  readonly more?: Partial<Omit<WorkflowCommit, "workflow" | "state">>;
}

function commitOf({ workflow, run, more }: Of, progress: Partial<WorkflowProgress>, step?: Partial<CommittedStep>): Commit {
  const commit = workflowCommit({ source: workflow, ...more });
  return {
    ...commit,
    run: { ...commit.run, id: run, ...more?.run },
    workflow: { ...commit.workflow, stepCount: 3, ...progress, ...(step === undefined ? {} : { step: committedStep(step) }) },
  } as unknown as Commit; // Readers of RUNS do not know the state of a workflow run.
}

/** A run of three steps: its trigger is an event, its second step is retried once. */
function commitsOf(of: Of): readonly Commit[] {
  const error = { name: "Error", message: "busy", code: "ECONNRESET" };
  const cause = { emitter: "dc_shop", emitId: `em_${of.run}` };
  return [
    commitOf(of, { status: "running", number: 1, event: '{"body":{"name":"Ada"}}', cause }, { name: "first", index: 0 }),
    commitOf(of, { status: "suspended", number: 2, resumeAt: began + 60_000 }, { name: "second", index: 1, outcome: "retried", error }),
    commitOf(of, { status: "running", number: 3 }, { name: "second", index: 1, attempt: 2 }),
    commitOf(of, { status: "succeeded", number: 4 }, { name: "third", index: 2, durationMs: 30 }),
  ];
}

const record = (stream: string, commits: readonly Commit[], from = 1, expected?: ReadonlyMap<number, number>) =>
  history.recordCommits(
    stream,
    commits.map((commit, n) => ({ seq: from + n, commit })),
    expected,
  );

describe("recording", () => {
  test("makes one row of the commits of a run, and one for each attempt of a step", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const of = { workflow, run: "r_whole" };
    const [first, second, third, fourth] = commitsOf(of);
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) throw new Error("four commits");
    await record(stream, [first, second]);
    expect(await history.findWorkflowRun(workflow, "r_whole")).toMatchObject({
      status: "suspended",
      resumeAt: began + 60_000,
      endedAt: null,
      stepsDone: 1,
    });
    await record(stream, [third, fourth], 3);
    const found = await history.findWorkflowRun(workflow, "r_whole");
    expect(found).toMatchObject({
      id: "r_whole",
      workflow,
      owner,
      deployment: "d_1",
      trigger: "http",
      status: "succeeded",
      startedAt: began,
      endedAt: began + 2_030,
      resumeAt: null,
      stepCount: 3,
      stepsDone: 3,
      computeMs: 90,
      cause: { emitter: "dc_shop", emitId: "em_r_whole" },
      event: '{"body":{"name":"Ada"}}',
      error: null,
      failedStep: null,
    });
    expect(found?.attempts.map(({ name, attempt, outcome }) => [name, attempt, outcome])).toEqual([
      ["first", 1, "succeeded"],
      ["second", 1, "retried"],
      ["second", 2, "succeeded"],
      ["third", 1, "succeeded"],
    ]);
    expect(found?.attempts[1]).toMatchObject({ id: stepId("p_shop", "second"), error: { code: "ECONNRESET" }, inputs: '{"to":"Ada"}' });
  });

  test("makes a row for each of the steps that one commit has ended, with its own lines", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const line = (msg: string) => ({ k: "console.log", ts: began, msg });
    const before = [
      { step: committedStep({ name: "a", index: 1 }), logs: 2 },
      { step: committedStep({ name: "b", index: 3, outcome: "retried" }), logs: 0 },
    ];
    const more = { logs: ["a1", "a2", "c1"].map(line) };
    const shared = commitOf(
      { workflow, run: "r_shared", more },
      { status: "running", number: 4, stepCount: 4, before },
      { name: "c", index: 2 },
    );
    await record(stream, [commitOf({ workflow, run: "r_shared" }, { status: "running", number: 1 }, { name: "fork", index: 0 }), shared]);
    const found = await history.findWorkflowRun(workflow, "r_shared");
    expect(found).toMatchObject({ stepsDone: 3, computeMs: 80 });
    const { rows } = await postgres.client.query<{ number: number; name: string; logs: string }>(
      "select number, name, logs::text as logs from workflow_steps where run = 'r_shared' order by number",
    );
    const linesOf = (text: string) => (JSON.parse(text) as { readonly msg: string }[]).map(({ msg }) => msg);
    expect(rows.map(({ number, name, logs }) => [number, name, linesOf(logs)])).toEqual([
      [1, "fork", []],
      [2, "a", ["a1", "a2"]],
      [3, "b", []],
      [4, "c", ["c1"]],
    ]);
  });

  test("gives the same rows whatever the batches, repetitions and recorders", async () => {
    const cuts = fc.array(fc.record({ from: fc.nat(12), length: fc.integer({ min: 1, max: 12 }) }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(cuts, async (batches) => {
        const [stream, workflow] = [newName("S"), newName("p_")];
        const runs = ["r_a", "r_b", "r_c"].map((run) => commitsOf({ workflow, run }));
        // Runs of a workflow go side by side.
        const commits = [0, 1, 2, 3].flatMap((n) => runs.flatMap((each) => each[n] ?? []));
        const recorder = async (own: typeof batches): Promise<void> => {
          for (const { from, length } of own) {
            const start = Math.min(from, (await history.readPositions(stream))[partitionOf(workflow)] ?? 0);
            await record(stream, commits.slice(start, start + length), start + 1);
          }
        };
        await Promise.all([recorder(batches.slice(0, 3)), recorder(batches.slice(3))]);
        await recorder([{ from: 12, length: 12 }]);
        await recorder([{ from: 12, length: 12 }]);
        const position = (await history.readPositions(stream))[partitionOf(workflow)] ?? 0;
        await record(stream, commits.slice(position), position + 1);
        const { items, total } = await history.pageWorkflowRuns(workflow, all);
        expect([items.map(({ id }) => id), total]).toEqual([["r_c", "r_b", "r_a"], 3]);
        for (const run of items) {
          expect(run).toMatchObject({ status: "succeeded", computeMs: 90, stepsDone: 3, cause: { emitId: `em_${run.id}` } });
          expect((await history.findWorkflowRun(workflow, run.id))?.attempts).toHaveLength(4);
        }
      }),
      { numRuns: 15 },
    );
  });

  test("the commit with the highest number decides, in whatever order commits of a run are stored", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const commits = commitsOf({ workflow, run: "r_late" });
    await record(stream, commits.toReversed().slice(0, 2));
    await record(stream, commits.toReversed().slice(2), 3);
    const found = await history.findWorkflowRun(workflow, "r_late");
    expect(found).toMatchObject({ status: "succeeded", endedAt: began + 2_030, computeMs: 90, event: '{"body":{"name":"Ada"}}' });
    expect(found?.attempts.map(({ name }) => name)).toEqual(["first", "second", "second", "third"]);
  });

  test("refuses a batch whose position another recorder has moved", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const commits = commitsOf({ workflow, run: "r_two" });
    const partition = partitionOf(workflow);
    expect(await record(stream, commits, 1, new Map([[partition, 0]]))).toEqual([]);
    expect(await record(stream, commits, 1, new Map([[partition, 0]]))).toEqual([partition]);
    expect(await history.findWorkflowRun(workflow, "r_two")).toMatchObject({ computeMs: 90 });
  });

  test("records the reason of a cancellation, which belongs to no step", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const [first, second] = commitsOf({ workflow, run: "r_canceled" });
    const canceled = workflowCommit({ source: workflow, workflow: { status: "canceled", number: 3, reason: "not wanted" } });
    const { step: _, ...progress } = canceled.workflow;
    const third = { ...canceled, run: { ...canceled.run, id: "r_canceled" }, workflow: progress } as unknown as Commit;
    await record(
      stream,
      [first, second, third].filter((each) => each !== undefined),
    );
    expect(await history.findWorkflowRun(workflow, "r_canceled")).toMatchObject({
      status: "canceled",
      reason: "not wanted",
      stepsDone: 1,
      resumeAt: null,
      endedAt: began + 20,
    });
  });

  test("keeps the beginning of large exports, and the last lines of a large log", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const exports = JSON.stringify({ $return_value: "x".repeat(100_000) });
    const logs = Array.from({ length: 100 }, (_, n) => ({ k: "console.log", ts: n, msg: `${n} ${"y".repeat(2_000)}` }));
    const error = { name: "Error", message: "m".repeat(1_000_000), stack: "s".repeat(1_000_000) };
    await record(stream, [
      commitOf(
        { workflow, run: "r_large", more: { logs, error } },
        { status: "failed", number: 1, event: exports },
        { exports, error, inputs: exports },
      ),
    ]);
    const { attempts: [attempt] = [], event } = (await history.findWorkflowRun(workflow, "r_large")) ?? {};
    expect([event, attempt?.inputs]).toEqual([null, null]);
    expect(JSON.parse(attempt?.exports ?? "")).toEqual({ $truncated: { characters: exports.length, start: exports.slice(0, 1_024) } });
    expect(attempt?.logs[0]?.msg).toMatch(/^\d+ earlier lines of this step are not stored/);
    expect(attempt?.logs.at(-1)).toEqual(logs.at(-1));
    expect(JSON.stringify(attempt?.logs).length).toBeLessThan(66_000);
    expect(attempt?.error?.message).toHaveLength(16_384);
  });

  test("continues after texts that Postgres cannot store, and JSON texts that are none", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const step = {
      inputs: "a\0{",
      exports: "\ud800 no JSON",
      error: { name: "E\0", message: "\0", stack: 1, code: {} } as unknown as RunError,
    };
    const progress = { status: "failed", number: 1, reason: "\0", event: "{no" } as const;
    await record(stream, [commitOf({ workflow, run: "r_bad", more: { error: step.error } }, progress, step)]);
    const found = await history.findWorkflowRun(workflow, "r_bad");
    expect(found).toMatchObject({ reason: "\ufffd", event: "{no", error: { name: "E\0" } });
    expect(found?.attempts[0]?.inputs).toBe("a\ufffd{");
    expect((await history.pageDerived(workflow, "$errors", all)).items).toHaveLength(1);
  });

  test("a run counts as one invocation, and the time of its steps as compute time", async () => {
    const [stream, workflow, payer] = [newName("S"), newName("p_"), newName("u_")];
    await record(stream, commitsOf({ workflow, run: "r_usage", more: { owner: payer } }));
    expect(await history.readUsage(payer, 1_699_920_000_000)).toEqual({ runs: 1, computeMs: 90 });
  });

  test("a run that a timer triggers is one tick, and no run of a source", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const { run } = workflowCommit();
    const timed = { ...run, id: "r_timed", trigger: "timer", dueAt: began } as const;
    await record(stream, commitsOf({ workflow, run: "r_timed", more: { run: timed } }));
    expect(await history.pageTicks(workflow, all)).toMatchObject({ total: 1 });
    expect(await history.pageRuns(workflow, all)).toMatchObject({ total: 0 });
  });
});

describe("events and log lines", () => {
  test("keeps the events of runs that end in the same millisecond", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const runs = Array.from({ length: 20 }, (_, n) => `r_event${n}`);
    const commits = runs.map((run) => {
      const events = [0, 1].map((n) => committedEvent(eventIdOfRun(run, n, began), { emitId: `em_${run}x${n}` }));
      return commitOf({ workflow, run, more: { events } }, { status: "succeeded", number: 1 });
    });
    await record(stream, commits);
    expect((await history.pageEvents(workflow, all)).total).toBe(40);
    const { eventIds } = (await history.findWorkflowRun(workflow, "r_event17")) ?? {};
    expect(eventIds).toEqual(commits[17]?.events.map(({ id }) => id));
    await history.deleteEvents(workflow, {});
    expect((await history.findWorkflowRun(workflow, "r_event17"))?.eventIds).toEqual([]);
  });

  test("log lines of all steps have different ids", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const logs = [{ k: "console.log", ts: began, msg: "line" }];
    await record(stream, commitsOf({ workflow, run: "r_logs", more: { logs } }));
    const { items } = await history.pageDerived(workflow, "$logs", all);
    expect(new Set(items.map(({ emitId }) => emitId)).size).toBe(4);
    expect(await history.lastLogs(workflow)).toHaveLength(4);
    expect((await history.findWorkflowRun(workflow, "r_logs"))?.attempts.map(({ logs: lines }) => lines)).toEqual([logs, logs, logs, logs]);
  });
});

describe("errors", () => {
  const error = { name: "Error", message: "no", stack: "Error: no\n    at run" };
  const failing = (workflow: string, run: string, startedAt: number): Commit =>
    commitOf(
      { workflow, run, more: { error } },
      { status: "failed", number: 1, event: '{"n":1}' },
      { outcome: "failed", startedAt, error },
    );

  test("the entry of $errors equals the event that its subscribers get", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    await record(stream, [failing(workflow, "r_failed", began)]);
    const { items } = await history.pageDerived(workflow, "$errors", all);
    expect(items).toMatchObject([{ emitId: "r_failede", channel: "$errors", ts: began + 20 }]);
    expect(JSON.parse(items[0]?.payload ?? "")).toMatchObject({
      original_event: { n: 1 },
      original_context: {
        id: "r_failed",
        workflow_id: workflow,
        deployment_id: "d_1",
        source_type: "HTTP",
        owner_id: owner,
        verified: false,
      },
      error: { code: "Error", cellId: stepId("p_shop", "first"), ts: new Date(began + 20).toISOString(), stack: error.stack, msg: "no" },
    });
  });

  test("Up to the last 100 runs of the workflow that threw an error: those that failed last, however many succeed", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const failed = Array.from({ length: 25 }, (_, n) => failing(workflow, `r_failed${n}`, began + n));
    const succeeded = Array.from({ length: 60 }, (_, n) => commitOf({ workflow, run: `r_good${n}` }, { status: "succeeded", number: 1 }));
    let seq = 1;
    for (const commit of [...failed, ...succeeded]) await record(stream, [commit], seq++);
    const { items } = await history.pageDerived(workflow, "$errors", all);
    expect(items.map(({ emitId }) => emitId)).toEqual(Array.from({ length: 10 }, (_, n) => `r_failed${24 - n}e`));
  });
});

describe("reading", () => {
  test("pages runs newest first, also those of a status", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const statuses = ["succeeded", "failed", "succeeded", "suspended"] as const;
    await record(
      stream,
      statuses.map((status, n) => commitOf({ workflow, run: `r_${n}` }, { status, number: 1 })),
    );
    const idsOf = async (page: Parameters<typeof history.pageWorkflowRuns>[1]) =>
      (await history.pageWorkflowRuns(workflow, page)).items.map(({ id }) => id);
    expect(await idsOf({ limit: 3, cursor: null })).toEqual(["r_3", "r_2", "r_1"]);
    expect(await idsOf({ limit: 3, cursor: { side: "after", id: "r_1" } })).toEqual(["r_0"]);
    expect(await idsOf({ limit: 1, cursor: { side: "before", id: "r_1" } })).toEqual(["r_2"]);
    expect(await idsOf({ limit: 3, cursor: null, status: "succeeded" })).toEqual(["r_2", "r_0"]);
    expect((await history.pageWorkflowRuns(workflow, { limit: 1, cursor: null, status: "succeeded" })).total).toBe(2);
    await expect(idsOf({ limit: 1, cursor: { side: "after", id: "r_9" } })).rejects.toMatchObject({ code: "invalid_cursor" });
    expect(await history.findWorkflowRun(newName("p_"), "r_1")).toBeUndefined();
  });

  test("finds the runs that an event started, and the event that started a run", async () => {
    const [stream, source, emitId] = [newName("S"), newName("dc_"), newName("em_")];
    const emitted = workflowCommit({ events: [committedEvent("7-0", { emitId })] });
    const { workflow: _, ...rest } = emitted;
    const cause = { emitter: source, emitId };
    const listeners = [newName("p_"), newName("p_")].map((workflow) =>
      commitOf({ workflow, run: `r_of_${workflow}` }, { status: "succeeded", number: 1, cause }),
    );
    const foreign = commitOf(
      { workflow: newName("p_"), run: "r_foreign", more: { owner: "u_2" } },
      { status: "running", number: 1, cause },
    );
    let seq = 1;
    for (const commit of [{ ...rest, source } as unknown as Commit, ...listeners, foreign]) await record(stream, [commit], seq++);
    const runs = await history.runsOfEvent(cause, [owner]);
    expect(runs.map(({ id }) => id)).toEqual(listeners.map(({ run }) => run.id).reverse());
    expect(await history.runsOfEvent(cause, [])).toEqual([]);
    expect(await history.findWorkflowRun(listeners[0]?.source ?? "", runs[1]?.id ?? "")).toMatchObject({ cause, causeEventId: "7-0" });
  });
});

describe("bounds", () => {
  const count = async (table: string, workflow: string): Promise<number> => {
    const { rows } = await postgres.client.query<{ count: number }>(`select count(*)::int as count from ${table} where workflow = $1`, [
      workflow,
    ]);
    return rows[0]?.count ?? 0;
  };

  test("keeps the last runs of each status, and deletes the steps of the others", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    let seq = 1;
    for (let n = 0; n < 60; n++)
      await record(stream, [commitOf({ workflow, run: `r_${n}` }, { status: n < 5 ? "suspended" : "succeeded", number: 1 })], seq++);
    expect(await count("workflow_runs", workflow)).toBeLessThanOrEqual(5 + 20);
    expect(await count("workflow_steps", workflow)).toBe(await count("workflow_runs", workflow));
    expect((await history.pageWorkflowRuns(workflow, { ...all, status: "suspended" })).total).toBe(5);
    // They end: no new runs, but more of one status.
    for (let n = 0; n < 5; n++) await record(stream, [commitOf({ workflow, run: `r_${n}` }, { status: "succeeded", number: 2 })], seq++);
    expect(await count("workflow_runs", workflow)).toBeLessThanOrEqual(20);
  });

  test("keeps the last attempts of a run that polls, and the last one of each step", async () => {
    const [stream, workflow] = [newName("S"), newName("p_")];
    const of = { workflow, run: "r_polls" };
    const commits = Array.from({ length: 1_200 }, (_, n) =>
      commitOf(
        of,
        { status: "suspended", number: n + 1 },
        n === 0 ? { name: "first", index: 0 } : { name: "poll", index: 1, attempt: n, outcome: "rerun" },
      ),
    );
    for (let n = 0; n < commits.length; n += 100) await record(stream, commits.slice(n, n + 100), n + 1);
    expect(await count("workflow_steps", workflow)).toBeLessThan(100 + 500);
    const { attempts = [] } = (await history.findWorkflowRun(workflow, "r_polls")) ?? {};
    expect([attempts[0]?.name, attempts.at(-1)?.attempt]).toEqual(["first", 1_199]);
  });

  test("deletes the runs of a deleted workflow, and ignores its late commits", async () => {
    const [stream, workflow, other] = [newName("S"), newName("p_"), newName("p_")];
    const [first, ...late] = commitsOf({ workflow, run: "r_gone" });
    if (first === undefined) throw new Error("a commit");
    await record(stream, [first, commitOf({ workflow: other, run: "r_stays" }, { status: "succeeded", number: 1 })]);
    await history.deleteSource(workflow);
    await record(stream, late, 3);
    expect(await history.findWorkflowRun(workflow, "r_gone")).toBeUndefined();
    expect([await count("workflow_runs", workflow), await count("workflow_steps", workflow)]).toEqual([0, 0]);
    expect(await history.findWorkflowRun(other, "r_stays")).toBeDefined();
    await history.sweep();
  });
});
