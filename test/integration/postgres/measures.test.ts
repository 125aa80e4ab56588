import { RawNode, type KyselyPlugin } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { addMeasures, emptyMeasure, type Measure } from "../../../domain/measures/measure.ts";
import { quantile, quantileErrorFactor } from "../../../domain/measures/histogram.ts";
import { defaultKeptMeasures, startOfStep, stepMs } from "../../../domain/measures/steps.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createMeasures } from "../../../platform/postgres/measures/read.ts";
import { keepMeasures } from "../../../platform/postgres/measures/keep.ts";
import { slotOf, slotTable } from "../../../platform/postgres/measures/slots.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { committedEvent } from "../committed-event.ts";
import { withDatabase, withHistory } from "./support.ts";

const postgres = withMigratedPostgres();
const history = withHistory({}, postgres);
const delivery = withDatabase("delivery", postgres);
const attempts = createDeliveryRecords(delivery);
const measures = createMeasures(withDatabase("api", postgres));

/** Five hours ago: later times of a test are in the past as well. */
const minute = startOfStep(Date.now(), "hour") - 5 * stepMs.hour;
let names = 0;
const newName = (prefix: string): string => `${prefix}_m${(names++).toString().padStart(5, "0")}`;

interface Run {
  readonly source: string;
  readonly owner?: string;
  readonly at?: number;
  readonly durationMs?: number;
  readonly queuedMs?: number;
  readonly fails?: boolean;
  readonly events?: number;
  readonly workflow?: WorkflowProgress;
}

/** @param at when the run starts */
function commitOf({ source, owner = "u_m", at = minute, durationMs = 5, queuedMs, fails = false, events = 0, workflow }: Run): Commit {
  const id = newName("r");
  const queued = queuedMs === undefined ? {} : { queuedMs };
  return {
    source,
    owner,
    deployment: "d_1",
    run: { id, trigger: "http", generation: 1, startedAt: at, durationMs, cpuMs: 1, result: null, ...queued },
    events: Array.from({ length: events }, (_, index) => committedEvent(`${at + index}-0`)),
    logs: [],
    error: fails ? { name: "Error", message: "no" } : null,
    ...(workflow === undefined ? {} : { workflow }),
    state: emptyState,
  };
}

const inOrder = (runs: readonly Run[]) => runs.map((run, index) => ({ seq: index + 1, commit: commitOf(run) }));
const hourOf = (at = minute) => ({ fromMs: at - (at % stepMs.hour), untilMs: at + stepMs.hour, stepMs: stepMs.minute });

async function totalOf(subject: string, range = { fromMs: 0, untilMs: 9e15, stepMs: stepMs.day }): Promise<Measure> {
  const read = await measures.read([subject], range);
  return (read.get(subject) ?? []).map(({ atMs: _, ...measure }): Measure => measure).reduce(addMeasures, emptyMeasure);
}

describe("recorded commits", () => {
  test("are counted by minute for their source and for their owner", async () => {
    const [source, other, owner] = [newName("dc"), newName("dc"), newName("u")];
    const commits = inOrder([
      { source, owner, durationMs: 10, queuedMs: 3, events: 2 },
      { source, owner, durationMs: 30, queuedMs: 8, fails: true },
      { source, owner, at: minute + stepMs.minute, durationMs: 500 },
      { source: other, owner, durationMs: 40_000 },
    ]);
    await history.recordCommits(newName("S"), commits);
    const read = await measures.read([source, other, owner, "dc_absent"], hourOf());
    expect(read.get(source)).toMatchObject([
      { atMs: minute, runs: 2, errors: 1, events: 2, computeMs: 40, waits: 2, waitedMs: 11, maxWaitedMs: 8, maxDurationMs: 30 },
      { atMs: minute + stepMs.minute, runs: 1, errors: 0, events: 0, waits: 1, maxDurationMs: 500 },
    ]);
    expect(read.get(other)).toMatchObject([{ atMs: minute, runs: 1, computeMs: 40_000 }]);
    expect(read.get(owner)?.map(({ runs, errors }) => [runs, errors])).toEqual([
      [3, 1],
      [1, 0],
    ]);
    expect(read.get("dc_absent")).toEqual([]);
  });

  test("count once in repeated and overlapping batches, also by recorders at once", async () => {
    const [stream, source, owner] = [newName("S"), newName("dc"), newName("u")];
    const batch = inOrder(Array.from({ length: 30 }, () => ({ source, owner, events: 1 })));
    await Promise.all([0, 1, 2].map((n) => history.recordCommits(stream, batch.slice(0, 10 * (n + 1)))));
    await Promise.all([history.recordCommits(stream, batch), history.recordCommits(stream, batch.slice(5))]);
    expect(await totalOf(source)).toMatchObject({ runs: 30, events: 30, computeMs: 150 });
    expect(await totalOf(owner)).toMatchObject({ runs: 30, events: 30 });
  });

  test("of a workflow count its run when it ends, and the time of each step", async () => {
    const [workflow, owner] = [newName("p"), newName("u")];
    const step = (number: number, status: WorkflowProgress["status"], startedAt: number): WorkflowProgress => ({
      status,
      number,
      startedAt: minute,
      stepCount: 2,
      step: {
        id: "c_1",
        name: "step",
        index: number - 1,
        attempt: 1,
        startedAt,
        durationMs: 100,
        cpuMs: 1,
        outcome: "succeeded",
        inputs: null,
        exports: "{}",
        error: null,
      },
    });
    const [first, last] = [step(1, "running", minute), step(2, "succeeded", minute + 2 * stepMs.minute)];
    await history.recordCommits(
      newName("S"),
      inOrder([
        { source: workflow, owner, workflow: { ...first, queuedMs: 7 } },
        { source: workflow, owner, workflow: last },
      ]),
    );
    expect((await measures.read([workflow], hourOf())).get(workflow)).toMatchObject([
      { atMs: minute, runs: 0, waits: 1, waitedMs: 7, computeMs: 100, maxDurationMs: 0 },
      { atMs: minute + 2 * stepMs.minute, runs: 1, waits: 0, computeMs: 100, maxDurationMs: 2 * stepMs.minute + 100 },
    ]);
  });

  test("with forged times are recorded, and do not stop the recorder", async () => {
    const [stream, source] = [newName("S"), newName("dc")];
    const forged = [Number.NaN, -5, 9e20, Number.POSITIVE_INFINITY].flatMap((at) => [
      { source, at },
      { source, durationMs: at, queuedMs: at },
    ]);
    expect(await history.recordCommits(stream, inOrder(forged))).toEqual([]);
    expect(await totalOf(source)).toMatchObject({ runs: 8 });
  });

  test("count in the current minute if their times are over a day ago, or over an hour ahead", async () => {
    const [source, webhook] = [newName("dc"), newName("wh")];
    const begin = startOfStep(Date.now(), "minute");
    const away = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? -25 - n : 2 + n) * stepMs.hour);
    const near = [-23 * stepMs.hour, 30 * stepMs.minute];
    await history.recordCommits(newName("S"), inOrder([...away, ...near].map((ms) => ({ source, at: begin + ms }))));
    await attempts.recordAttempts([...away, ...near].map((ms) => ({ ...attemptOf({ webhook }), at: begin + ms })));
    const range = { fromMs: 0, untilMs: 9e15, stepMs: stepMs.minute };
    const read = await measures.read([source, webhook], range);
    const end = Date.now();
    for (const subject of [source, webhook]) {
      const counts = new Map((read.get(subject) ?? []).map(({ atMs, runs, attempts: made }) => [atMs, runs + made]));
      expect(near.map((ms) => counts.get(begin + ms))).toEqual([1, 1]);
      const current = [...counts].filter(([at]) => at >= begin && at <= end);
      expect(current.reduce((sum, [, count]) => sum + count, 0)).toBe(200);
      expect(counts.size).toBe(near.length + current.length);
    }
  });

  test("with huge durations count as a day each, and sums stop before they overflow", async () => {
    const [source, owner] = [newName("dc"), newName("u")];
    const huge = (count: number): Run[] =>
      Array.from({ length: count }, () => ({ source, owner, durationMs: 9e15, queuedMs: 9e15, at: 0 }));
    const stream = newName("S");
    await history.recordCommits(stream, inOrder(huge(2_000)));
    expect(await totalOf(source)).toMatchObject({ runs: 2_000, computeMs: 2_000 * stepMs.day, waitedMs: 2_000 * stepMs.day });
    await postgres.client.query("update measures set compute_ms = $2, waited_ms = $2 where subject = $1", [owner, Number.MAX_SAFE_INTEGER]);
    const more = huge(3).map((run, index) => ({ seq: 2_001 + index, commit: commitOf(run) }));
    expect(await history.recordCommits(stream, more)).toEqual([]);
    expect(await totalOf(owner)).toMatchObject({ runs: 2_003, computeMs: Number.MAX_SAFE_INTEGER, waitedMs: Number.MAX_SAFE_INTEGER });
  });

  test("of one owner are counted by recorders of many partitions and by deliveries at once", async () => {
    const owners = ["u_b", "u_a", "u_c"];
    const sources = Array.from({ length: 12 }, () => newName("dc"));
    const [stream, webhook] = [newName("S"), newName("wh")];
    const rounds = Array.from({ length: 20 }, (_, round) => round);
    const record = async (mine: readonly string[]): Promise<void> => {
      for (const round of rounds)
        await history.recordCommits(
          stream,
          mine.flatMap((source, place) =>
            owners.map((owner, index) => ({
              seq: round * 100 + place * 3 + index + 1,
              commit: commitOf({ source, owner: `${owner}${stream}` }),
            })),
          ),
        );
    };
    const deliver = async (): Promise<void> => {
      for (const _ of rounds)
        await attempts.recordAttempts(owners.toReversed().map((owner) => attemptOf({ webhook, owner: `${owner}${stream}` })));
    };
    await Promise.all([...[0, 4, 8].map((from) => record(sources.slice(from, from + 4))), deliver(), deliver()]);
    const totals = await Promise.all(owners.map((owner) => totalOf(`${owner}${stream}`)));
    expect(totals.map(({ attempts: made }) => made)).toEqual([40, 40, 40]);
    // Sources of one partition share its position: later of them are skipped when another batch has moved it.
    const ofSources = await Promise.all(sources.map((source) => totalOf(source)));
    const sum = (values: readonly { readonly runs: number }[]): number => values.reduce((total, { runs }) => total + runs, 0);
    expect(sum(totals)).toBe(sum(ofSources));
    expect(sum(totals)).toBeGreaterThan(0);
  });
});

function attemptOf({
  webhook,
  owner = "u_m",
  delivery: id = newName("dlv"),
  outcome = "delivered",
  durationMs = 20,
  source = "dc_1",
}: Partial<Attempt> & Pick<Attempt, "webhook">): Attempt {
  const subject = { delivery: id, webhook, subscription: "sub_1", owner, source, event: "1-0", emitId: "em", channel: "" };
  return { ...subject, attempt: 1, at: minute, durationMs, outcome, status: 200, error: null };
}

describe("recorded attempts", () => {
  test("are counted once for their webhook and their owner", async () => {
    const [webhook, owner] = [newName("wh"), newName("u")];
    const made = [
      attemptOf({ webhook, owner }),
      attemptOf({ webhook, owner, outcome: "retry", durationMs: 800 }),
      attemptOf({ webhook, owner, outcome: "dead" }),
    ];
    await Promise.all([attempts.recordAttempts(made), attempts.recordAttempts(made.slice(1))]);
    await attempts.recordAttempts(made);
    const counted = { attempts: 3, failedAttempts: 2, deliveries: 1, deadLetters: 1 };
    const total = await totalOf(webhook);
    expect(total).toMatchObject({ ...counted, runs: 0, maxDurationMs: 800 });
    expect(total.durations.reduce((sum, count) => sum + count, 0)).toBe(3);
    // The durations of an owner are those of runs.
    expect(await totalOf(owner)).toEqual({ ...emptyMeasure, ...counted });
  });

  test("that are equal in one batch are counted once, also as usage", async () => {
    const [webhook, owner] = [newName("wh"), newName("u")];
    const made = attemptOf({ webhook, owner });
    await attempts.recordAttempts([made, { ...made, durationMs: 30 }, attemptOf({ webhook, owner })]);
    expect(await totalOf(webhook)).toMatchObject({ attempts: 2, deliveries: 2, maxDurationMs: 20 });
    const { rows } = await postgres.client.query("select deliveries::int from usage where owner = $1", [owner]);
    expect(rows).toEqual([{ deliveries: 2 }]);
  });

  test("of tests are not counted, those of what a workflow sends are", async () => {
    const [webhook, workflow] = [newName("wh"), newName("p")];
    await attempts.recordAttempts([attemptOf({ webhook, source: webhook }), attemptOf({ webhook: workflow, source: workflow })]);
    expect(await totalOf(webhook)).toEqual(emptyMeasure);
    expect(await totalOf(workflow)).toEqual({ ...emptyMeasure, attempts: 1, deliveries: 1 });
  });
});

test("quantiles of any range are those of all runs in it, within the error of a bucket", async () => {
  const [source, owner] = [newName("dc"), newName("u")];
  const durations = Array.from({ length: 400 }, (_, n) => Math.round(2 + 1_000 * Math.abs(Math.sin(n * 7.3)) ** 5 + n));
  await history.recordCommits(
    newName("S"),
    inOrder(durations.map((durationMs, n) => ({ source, owner, durationMs, at: minute + (n % 90) * stepMs.minute }))),
  );
  const ordered = durations.toSorted((one, other) => one - other);
  const { durations: merged, maxDurationMs } = await totalOf(source);
  for (const q of [0.5, 0.95, 0.99]) {
    const [estimate, exact] = [quantile(merged, q, maxDurationMs) ?? 0, ordered[Math.ceil(q * 400) - 1] ?? 0];
    expect(Math.max(estimate / exact, exact / estimate)).toBeLessThanOrEqual(quantileErrorFactor + 1e-9);
  }
  expect(maxDurationMs).toBe(ordered.at(-1));
  expect(await totalOf(owner)).toEqual(await totalOf(source));
});

describe("measures that are not kept", () => {
  const hours = 33 * stepMs.hour;
  /** Moves what a subject did in the last hours into the past: no commit can. @param byMs whole minutes */
  const age = async (subjects: readonly string[], byMs: number): Promise<void> => {
    const moved = `at_ms - ${byMs}`;
    await postgres.client.query(
      `update measures set at_ms = ${moved}, slot = ${slotOf("minute", `(${moved})`)} where subject = any($1) and at_ms > $2`,
      [subjects, minute - stepMs.hour],
    );
  };
  const steps = async (): Promise<Readonly<Record<string, number>>> => {
    const { rows } = await postgres.client.query<{ step: string; rows: number }>(
      `select case when slot < 8 then 'minutes' when slot < 16 then 'hours' else 'days' end as step, count(distinct at_ms)::int as rows from measures where subject like $1 group by 1`,
      [`${old.source}%`],
    );
    return Object.fromEntries(rows.map(({ step, rows: count }) => [step, count]));
  };
  const old = { source: newName("dc"), owner: newName("u") };

  test("of minutes are added to hours, those of hours to days, and those of days are deleted", async () => {
    // In slots whose turn has come: of minutes and hours 33 hours ago, of days five blocks ago.
    const ages = [hours + 682 * stepMs.day, hours + 42 * stepMs.day, hours, hours, 0];
    for (const [n, byMs] of ages.entries()) {
      await history.recordCommits(newName("S"), inOrder([{ ...old, at: Date.now() - 10_000, durationMs: 14 - n, fails: n === 3 }]));
      await age([old.source, old.owner], byMs);
    }
    const before = await totalOf(old.source);
    expect(before).toMatchObject({ runs: 5, errors: 1 });
    await Promise.all([keepMeasures(delivery.db, defaultKeptMeasures), keepMeasures(delivery.db, defaultKeptMeasures)]);
    await keepMeasures(delivery.db, defaultKeptMeasures);
    expect(await totalOf(old.source)).toMatchObject({ runs: 4, errors: 1, maxDurationMs: 13 });
    expect(await totalOf(old.owner)).toEqual(await totalOf(old.source));
    expect(await steps()).toEqual({ minutes: 1, hours: 1, days: 1 });
    await history.sweep();
    expect(await totalOf(old.source)).toMatchObject({ runs: 4 });
  });

  test("are moved by one statement, whatever hours are in a slot", async () => {
    const source = newName("dc");
    await history.recordCommits(newName("S"), inOrder([{ source, at: Date.now() - 10_000 }]));
    await age([source], hours);
    // As a version without a bound for times recorded them: in one slot, 48 hours from one to the next.
    await postgres.client.query(
      "insert into measures (subject, slot, at_ms, bucket, runs) select subject, slot, at_ms - n * $2::bigint, bucket, 1 from measures, generate_series(1, 300) n where subject = $1",
      [source, 48 * stepMs.hour],
    );
    const moves: string[] = [];
    const plugin: KyselyPlugin = {
      transformQuery({ node }) {
        if (RawNode.is(node) && node.sqlFragments.join(" ").includes("insert into measures")) moves.push(node.sqlFragments.join(" "));
        return node;
      },
      transformResult: async ({ result }) => Promise.resolve(result),
    };
    const endless = Number.POSITIVE_INFINITY;
    await keepMeasures(delivery.db.withPlugin(plugin), { ...defaultKeptMeasures, hour: endless, day: endless });
    expect(moves).toHaveLength(1);
    expect((await measures.read([source], { fromMs: 0, untilMs: 9e15, stepMs: stepMs.hour })).get(source)).toHaveLength(301);
    expect(await totalOf(source)).toMatchObject({ runs: 301 });
  });

  test("are in a read that begins while a slot is being moved", async () => {
    const source = newName("dc");
    await history.recordCommits(newName("S"), inOrder([{ source }, { source }]));
    const before = await totalOf(source);
    const moving = new pg.Client(postgres.url);
    await moving.connect();
    await moving.query("begin");
    const { rows } = await moving.query("select slot from measures where subject = $1 limit 1", [source]);
    const slot = Number(rows[0].slot);
    await moving.query(`create temporary table moved on commit drop as select * from measures where slot = ${slot}`);
    await moving.query(`insert into measures select (jsonb_populate_record(moved, '{"slot": 8}')).* from moved`);
    await moving.query(`truncate ${slotTable(slot)}`);
    const read = totalOf(source);
    await until(async () => {
      const { rowCount } = await postgres.client.query(
        "select from pg_stat_activity where query like '%array_agg(bucket%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()",
      );
      return (rowCount ?? 0) > 0;
    });
    await moving.query("commit");
    await moving.end();
    expect(await read).toEqual(before);
  });

  test("are added once when the process dies in between, and when a backup reads them", async () => {
    const source = newName("dc");
    await history.recordCommits(newName("S"), inOrder(Array.from({ length: 50 }, (_, n) => ({ source, at: Date.now() - n * 1_000 }))));
    await age([source], hours);
    const before = await totalOf(source);
    const backup = new pg.Client(postgres.url);
    await backup.connect();
    await backup.query("begin; select count(*) from measures");
    const killed = keepMeasures(delivery.db, defaultKeptMeasures).then(
      () => "ended",
      () => "killed",
    );
    await until(async () => {
      const { rowCount } = await postgres.client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'truncate measures%' and wait_event_type = 'Lock'",
      );
      return (rowCount ?? 0) > 0;
    });
    expect(await killed).toBe("killed");
    expect(await totalOf(source)).toEqual(before);
    await keepMeasures(delivery.db, defaultKeptMeasures); // Gives up: the backup still reads.
    expect(await totalOf(source)).toEqual(before);
    await backup.end();
    await keepMeasures(delivery.db, defaultKeptMeasures);
    expect(await totalOf(source)).toEqual(before);
    const { rows } = await postgres.client.query("select from measures where subject = $1 and slot < 8", [source]);
    expect(rows).toEqual([]);
  });
});
