import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { compareEventIds } from "../../../domain/event/event-id.ts";
import { pageOf, type PageRequest } from "../../../domain/page.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { History } from "../../../platform/postgres/history/index.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase, withHistory } from "./support.ts";

const postgres = withMigratedPostgres();
const history = withHistory({ kept: { events: 10, logs: 10, runs: 10 } }, postgres);
const recorder = withDatabase("delivery", postgres);
let names = 0;

const newName = (prefix: string): string => `${prefix}${names++}`;
const first: PageRequest = { limit: 100, cursor: null };

function event(id: string, more: Partial<CommittedEvent> = {}): CommittedEvent {
  return {
    id,
    emitId: `e-${id}`,
    channel: "",
    dedupeId: null,
    summary: null,
    ts: 1_000,
    payload: `{"id":"${id}"}`,
    ...more,
  };
}

function commit(source: string, run: string, more: Partial<Commit> = {}): Commit {
  return {
    source,
    owner: "u_1",
    deployment: "d_1",
    run: {
      id: run,
      trigger: "timer",
      generation: 1,
      startedAt: 1_700_000_000_000,
      durationMs: 5,
      cpuMs: 1,
      result: null,
    },
    events: [],
    logs: [],
    error: null,
    state: emptyState,
    ...more,
  };
}

/** The position of the only partition that has one. */
const positionOf = async (stream: string): Promise<number> => Math.max(...(await history.readPositions(stream)));
const ids = async (source: string): Promise<string[]> => (await history.pageEvents(source, first)).items.map(({ id }) => id);

describe("recording", () => {
  test("records a repeated batch once, also by two recorders at once", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    const batch = [1, 2, 3].map((seq) => ({
      seq,
      commit: commit(source, `r_${source}${seq}`, {
        events: [event(`${seq}-0`)],
        logs: [{ k: "console.log", ts: 1, msg: `line ${seq}` }],
      }),
    }));
    expect(await positionOf(stream)).toBe(0);
    await Promise.all([
      history.recordCommits(stream, batch),
      history.recordCommits(stream, batch),
      history.recordCommits(stream, batch.slice(0, 2)),
    ]);
    await history.recordCommits(stream, batch);
    expect(await positionOf(stream)).toBe(3);
    expect(await ids(source)).toEqual(["3-0", "2-0", "1-0"]);
    expect((await history.lastLogs(source)).map(({ record }) => record.msg)).toEqual(["line 1", "line 2", "line 3"]);
    expect(await history.pageRuns(source, first)).toMatchObject({ total: 3, items: [{ eventIds: ["3-0"] }, {}, {}] });
  });

  test("records the new part of overlapping batches", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    const one = (seq: number) => ({
      seq,
      commit: commit(source, `r_${source}${seq}`, { events: [event(`${seq}-0`)] }),
    });
    await history.recordCommits(stream, [one(1), one(2)]);
    await history.recordCommits(stream, [one(2), one(3)]);
    expect(await history.pageRuns(source, first)).toMatchObject({ total: 3 });
    expect(await positionOf(stream)).toBe(3);
  });

  test("refuses a partition whose position is not the expected one, and records the others", async () => {
    const [stream, source, other] = [newName("S"), "dc_refused", "dc_recorded"];
    const [partition, otherPartition] = [partitionOf(source), partitionOf(other)];
    expect(partition).not.toBe(otherPartition);
    const one = (of: string, seq: number) => ({ seq, commit: commit(of, `r_${of}${seq}`) });
    const expected = (position: number, otherPosition: number) =>
      new Map([
        [partition, position],
        [otherPartition, otherPosition],
      ]);
    expect(await history.recordCommits(stream, [one(source, 1), one(other, 2)], expected(0, 0))).toEqual([]);
    // The previous recorder does not know that position; a later one has missed the commits in between.
    expect(await history.recordCommits(stream, [one(source, 3), one(other, 4)], expected(0, 2))).toEqual([partition]);
    expect(await history.recordCommits(stream, [one(source, 7)], expected(6, 4))).toEqual([partition]);
    const positions = await history.readPositions(stream);
    expect([positions[partition], positions[otherPartition]]).toEqual([1, 4]);
    expect([(await history.pageRuns(source, first)).total, (await history.pageRuns(other, first)).total]).toEqual([1, 2]);
  });

  test("starts a partition behind the position that an earlier version recorded for all partitions", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    await recorder.db.insertInto("recorder_positions").values({ stream, seq: 5 }).execute();
    expect(new Set(await history.readPositions(stream))).toEqual(new Set([5]));
    const batch = [5, 6].map((seq) => ({ seq, commit: commit(source, `r_${source}${seq}`) }));
    expect(await history.recordCommits(stream, batch, new Map([[partitionOf(source), 5]]))).toEqual([]);
    expect((await history.pageRuns(source, first)).total).toBe(1);
    expect((await history.readPositions(stream)).filter((position) => position !== 5)).toEqual([6]);
  });

  test("leaves the same rows after random batches from several recorders as from one", async () => {
    const schedule = fc.array(fc.record({ from: fc.integer({ min: 0, max: 25 }), length: fc.integer({ min: 1, max: 10 }) }), {
      minLength: 1,
      maxLength: 15,
    });
    await fc.assert(
      fc.asyncProperty(schedule, async (batches) => {
        const [stream, source] = [newName("S"), newName("dc_")];
        const one = (seq: number) => ({
          seq,
          commit: commit(source, `r_${source}${seq}`, { logs: [{ k: "console.log", ts: seq }] }),
        });
        const recorder = async (own: typeof batches): Promise<void> => {
          for (const { from, length } of own) {
            // A recorder reads from the position: it may be behind it and never ahead.
            const position = await positionOf(stream);
            const start = Math.min(from, position);
            await history.recordCommits(
              stream,
              Array.from({ length }, (_, n) => one(start + n + 1)),
            );
          }
        };
        await Promise.all([recorder(batches.filter((_, n) => n % 2 === 0)), recorder(batches.filter((_, n) => n % 2 === 1))]);
        const position = await positionOf(stream);
        const expected = Array.from({ length: position }, (_, n) => n + 1).slice(-10);
        expect((await history.lastLogs(source)).map(({ record }) => record.ts)).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test("continues after text that Postgres cannot store, and after invalid numbers", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    const bad = event("1-0", {
      summary: "a\0b",
      dedupeId: "\0",
      channel: "\ud800",
      ts: Number.NaN,
      payload: JSON.stringify({ text: "a\0b" }),
    });
    const events = [bad, event("2-0", { ts: 1e300 }), event("3-0", { ts: 1.5 }), event("not an id")];
    await history.recordCommits(stream, [
      {
        seq: 1,
        commit: commit(source, "r_bad", {
          events,
          logs: [{ k: "console.log", ts: 1, msg: "\0" }],
          error: { name: "E", message: "\0" },
        }),
      },
    ]);
    const { items } = await history.pageEvents(source, first);
    expect(items.map(({ id, ts }) => [id, ts])).toEqual([
      ["3-0", 1],
      ["2-0", Number.MAX_SAFE_INTEGER],
      ["1-0", 0],
    ]);
    expect(items.at(-1)).toMatchObject({ summary: "a\ufffdb", payload: bad.payload });
    expect((await history.findRun(source, "r_bad"))?.error).toEqual({ name: "E", message: "\0" });
  });

  test("adds up usage by owner and day, once", async () => {
    const [stream, source, owner] = [newName("S"), newName("dc_"), newName("u_")];
    const batch = [1, 2].map((seq) => ({ seq, commit: commit(source, `r_${seq}`, { owner }) }));
    await history.recordCommits(stream, batch);
    await history.recordCommits(stream, batch);
    expect(await history.readUsage(owner, 1_699_920_000_000)).toEqual({ runs: 2, computeMs: 10 });
    expect(await history.readUsage(owner, 0)).toEqual({ runs: 0, computeMs: 0 });
  });

  test("keeps the stored rows of a busy source bounded", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    for (let seq = 1; seq <= 60; seq++) {
      const logs = [{ k: "console.log", ts: seq }];
      await history.recordCommits(stream, [{ seq, commit: commit(source, `r_${source}${seq}`, { events: [event(`${seq}-0`)], logs }) }]);
    }
    expect(await ids(source)).toEqual(Array.from({ length: 10 }, (_, n) => `${60 - n}-0`));
    for (const table of ["events", "logs", "runs"]) {
      const { rows } = await postgres.client.query<{ count: number }>(`select count(*)::int as count from ${table} where source = $1`, [
        source,
      ]);
      expect(rows[0]?.count).toBeLessThanOrEqual(20);
      expect(rows[0]?.count).toBeGreaterThanOrEqual(10);
    }
  });

  test("deletes the history of a deleted source, and ignores its late commits", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    const one = (seq: number) => ({
      seq,
      commit: commit(source, `r_${seq}`, { events: [event(`${seq}-0`)], logs: [{ k: "console.log", ts: 1 }] }),
    });
    await history.recordCommits(stream, [one(1)]);
    await history.deleteSource(source);
    await history.recordCommits(stream, [one(2)]);
    expect(await ids(source)).toEqual([]);
    expect(await history.lastLogs(source)).toEqual([]);
    expect(await history.pageRuns(source, first)).toEqual({ items: [], total: 0 });
    expect(await positionOf(stream)).toBe(2);
    await history.sweep();
  });
});

describe("reading events", () => {
  const idsArbitrary = fc.uniqueArray(
    fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 12 })).map(([ms, seq]) => `${ms}-${seq}`),
    { maxLength: 16 },
  );

  test("returns the same pages as a list in memory", async () => {
    await fc.assert(
      fc.asyncProperty(
        idsArbitrary,
        fc.integer({ min: 1, max: 6 }),
        fc.nat(),
        fc.constantFrom("after", "before", null),
        async (given, limit, pick, side) => {
          const [stream, source] = [newName("S"), newName("dc_")];
          await history.recordCommits(stream, [
            {
              seq: 1,
              commit: commit(source, "r_1", {
                events: given.toSorted(compareEventIds).map((id) => event(id, { channel: id.endsWith("0") ? "zero" : "" })),
              }),
            },
          ]);
          const kept = given.toSorted(compareEventIds).reverse().slice(0, 10);
          const chosen = kept[pick % Math.max(kept.length, 1)];
          const page: PageRequest = {
            limit,
            cursor: side === null || chosen === undefined ? null : { side, id: chosen },
          };
          const found = await history.pageEvents(source, page);
          expect(found.items.map(({ id }) => id)).toEqual(pageOf(kept, (id) => id, page));
          expect(found.total).toBe(kept.length);
          const zero = await history.pageEvents(source, { ...first, channel: "zero" });
          expect(zero.items.map(({ id }) => id)).toEqual(kept.filter((id) => id.endsWith("0")));
          expect(zero.total).toBe(zero.items.length);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("treats ranges as inclusive, numerically ordered and open at either end", async () => {
    const cases = [
      { range: { startId: "9-0" }, left: ["8-0"] },
      { range: { endId: "9-0" }, left: ["100-0", "10-0"] },
      { range: { startId: "9-0", endId: "10-0" }, left: ["100-0", "8-0"] },
      { range: { startId: "9-0", endId: "9-0" }, left: ["100-0", "10-0", "8-0"] },
      { range: {}, left: [] },
      { range: { channel: "other" }, left: ["100-0", "10-0", "9-0", "8-0"] },
    ];
    for (const { range, left } of cases) {
      const [stream, source] = [newName("S"), newName("dc_")];
      await history.recordCommits(stream, [
        { seq: 1, commit: commit(source, "r_1", { events: ["8-0", "9-0", "10-0", "100-0"].map((id) => event(id)) }) },
      ]);
      expect((await history.listEvents(source, range)).length + left.length).toBe(4);
      expect(await history.deleteEvents(source, range)).toMatchObject({ deleted: 4 - left.length, finishedAtMs: expect.any(Number) });
      expect(await ids(source)).toEqual(left);
    }
    await expect(history.deleteEvents("dc_x", { startId: "abc" })).rejects.toMatchObject({ status: 422 });
  });

  test("finds one event by its id", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    await history.recordCommits(stream, [
      {
        seq: 1,
        commit: commit(source, "r_1", {
          events: [event("8-0", { channel: "c", dedupeId: "d", summary: "s", ts: 7 }), event("9-0")],
        }),
      },
    ]);
    expect(await history.findEvent(source, "8-0")).toEqual({
      id: "8-0",
      emitId: "e-8-0",
      channel: "c",
      dedupeId: "d",
      summary: "s",
      ts: 7,
      payload: '{"id":"8-0"}',
      indexedAtMs: 8,
      run: "r_1",
    });
    expect(await history.findEvent(source, "7-0")).toBeUndefined();
  });
});

describe("reading runs", () => {
  test("pages runs newest first, also by outcome, and returns a run with its log", async () => {
    const [stream, source] = [newName("S"), newName("dc_")];
    const error = { name: "Error", message: "no" };
    const batch = [1, 2, 3, 4].map((seq) => ({
      seq,
      commit: commit(source, `r_${source.slice(3)}x${seq}`, {
        error: seq % 2 === 0 ? error : null,
        logs: [{ k: "console.log", ts: 1, msg: `line ${seq}` }],
      }),
    }));
    await history.recordCommits(stream, batch);
    const runIds = async (page: Parameters<History["pageRuns"]>[1]): Promise<string[]> =>
      (await history.pageRuns(source, page)).items.map(({ id }) => id.slice(-1));
    expect(await runIds({ limit: 2, cursor: null })).toEqual(["4", "3"]);
    const cursor = batch[2]?.commit.run.id ?? "";
    expect(await runIds({ limit: 2, cursor: { side: "after", id: cursor } })).toEqual(["2", "1"]);
    expect(await runIds({ limit: 2, cursor: { side: "before", id: cursor } })).toEqual(["4"]);
    expect(await runIds({ limit: 9, cursor: null, failed: true })).toEqual(["4", "2"]);
    await expect(runIds({ limit: 2, cursor: { side: "after", id: "r_none" } })).rejects.toMatchObject({
      code: "invalid_cursor",
    });
    expect(await history.findRun(source, cursor)).toMatchObject({
      id: cursor,
      source,
      trigger: "timer",
      logs: [{ msg: "line 3" }],
      error: null,
    });
    expect(await history.findRun("dc_other", cursor)).toBeUndefined();
  });
});
