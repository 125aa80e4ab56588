import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { startUpkeep } from "../../../delivery/record/upkeep.ts";
import { compareEventIds } from "../../../domain/event/event-id.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { commitOf } from "../api/streams-support.ts";
import { until } from "../../support/until.ts";
import { committedEvent } from "../committed-event.ts";
import { withDatabase, withHistory } from "./support.ts";

/** Ranges of events that are deleted in batches, and hidden from the start. */
const postgres = withMigratedPostgres();
const database = withDatabase("delivery", postgres);
const api = withDatabase("api", postgres);
const inBatchesOf = (deletionBatch: number) => createHistory(database, { kept: { events: 10_000 }, deletionBatch });
const history = withHistory({ kept: { events: 10_000 }, deletionBatch: 2 }, postgres);
let [sources, commits] = [0, 0];

const newSource = (): string => `dc_${++sources}`;

async function record(source: string, events: readonly { readonly id: string; readonly channel?: string }[]): Promise<void> {
  const emitted = events.toSorted((a, b) => compareEventIds(a.id, b.id)).map(({ id, channel = "" }) => committedEvent(id, { channel }));
  await history.recordCommits("S", [{ seq: ++commits, commit: commitOf(source, "u_1", emitted) }]);
}

const shown = async (source: string): Promise<readonly string[]> =>
  (await history.pageEvents(source, { limit: 100, cursor: null })).items.map(({ id }) => id);

async function stored(source: string): Promise<readonly string[]> {
  const { rows } = await postgres.client.query<{ id: string }>(
    "select ms || '-' || seq as id from events where source = $1 order by ms desc, seq desc",
    [source],
  );
  return rows.map(({ id }) => id);
}

describe("deleting events", () => {
  const eventArbitrary = fc.record({ id: fc.tuple(fc.nat(9), fc.nat(3)).map((pair) => pair.join("-")), channel: fc.constantFrom("", "c") });
  const bound = fc.option(
    fc.tuple(fc.nat(12), fc.nat(3)).map((pair) => pair.join("-")),
    { nil: undefined },
  );

  /** Method: random events and ranges, in batches of two; the remaining events are compared with a filter of the list in memory. */
  test("hides the range at once, deletes it in batches, and keeps all other events", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(eventArbitrary, { selector: ({ id }) => id, maxLength: 12 }),
        bound,
        bound,
        fc.constantFrom(undefined, "c"),
        async (events, startId, endId, channel) => {
          const [source, other] = [newSource(), newSource()];
          await record(source, events);
          await record(other, [{ id: "3-0" }]);
          const range = {
            ...(startId === undefined ? {} : { startId }),
            ...(endId === undefined ? {} : { endId }),
            ...(channel === undefined ? {} : { channel }),
          };
          const goes = ({ id, channel: its }: (typeof events)[number]): boolean =>
            (startId === undefined || compareEventIds(startId, id) <= 0) &&
            (endId === undefined || compareEventIds(id, endId) <= 0) &&
            (channel === undefined || channel === its);
          const left = events.filter((event) => !goes(event)).map(({ id }) => id);
          left.sort((a, b) => compareEventIds(b, a));
          await history.deleteEvents(source, range);
          expect(await shown(source)).toEqual(left);
          // Events that arrive later are newer than the range, even if the range is open or ends in the future.
          await record(source, [{ id: "100-0", channel: "c" }]);
          expect(await shown(source)).toEqual(["100-0", ...left]);
          while (await history.continueDeletions());
          expect(await stored(source)).toEqual(["100-0", ...left]);
          expect(await stored(other)).toEqual(["3-0"]);
          const [deletion] = await history.listDeletions(source);
          expect(deletion).toMatchObject({
            deleted: events.length - left.length,
            finishedAtMs: expect.any(Number),
            channel: channel ?? null,
          });
        },
      ),
      { numRuns: 20 },
    );
  });

  test("by several processes at once deletes each event once", async () => {
    const source = newSource();
    await record(
      source,
      Array.from({ length: 60 }, (_, n) => ({ id: `${n}-0` })),
    );
    await Promise.all([history.deleteEvents(source, { endId: "40-0" }), history.deleteEvents(source, { startId: "30-0" })]);
    expect(await shown(source)).toEqual([]);
    const upkeeps = [1, 2, 3].map(() => startUpkeep(history, { warn: () => undefined }, { everyMs: 20 }));
    await until(async () => (await history.listDeletions(source)).every(({ finishedAtMs }) => finishedAtMs !== null));
    await Promise.all(upkeeps.map((upkeep) => upkeep.stop()));
    const deletions = await history.listDeletions(source);
    expect([await stored(source), deletions.reduce((sum, { deleted }) => sum + deleted, 0)]).toEqual([[], 60]);
  });

  test("continues after the process was killed in the middle of a batch", async () => {
    const source = newSource();
    await record(
      source,
      Array.from({ length: 1_000 }, (_, n) => ({ id: `${n}-0` })),
    );
    await createHistory(api, { kept: { events: 10_000 }, deletionBatch: 100 }).deleteEvents(source, {});
    await record(source, [{ id: "5000-0" }]);
    // The batch of this event is blocked, so that the kill hits its middle.
    await postgres.client.query("begin");
    await postgres.client.query("select 1 from events where source = $1 and ms = 450 for update", [source]);
    const child = fork(join(import.meta.dirname, "upkeep-process.ts"), [postgres.urlOf("delivery"), "100"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const waiting = sql`
      select 1 from pg_stat_activity
      where application_name = 'upkeep to be killed' and wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await waiting.execute(database.db)).rows.length > 0);
    expect(await history.listDeletions(source)).toMatchObject([{ deleted: 400, finishedAtMs: null, startId: null, endId: "999-0" }]);
    expect([await stored(source).then((ids) => ids.length), await shown(source)]).toEqual([601, ["5000-0"]]);
    child.kill("SIGKILL");
    await once(child, "exit");
    await postgres.client.query("rollback");
    expect(await shown(source)).toEqual(["5000-0"]);
    const upkeep = startUpkeep(inBatchesOf(100), { warn: () => undefined }, { everyMs: 20 });
    await until(async () => (await history.listDeletions(source))[0]?.finishedAtMs !== null);
    await upkeep.stop();
    expect(await history.listDeletions(source)).toMatchObject([{ deleted: 1_000 }]);
    expect(await stored(source)).toEqual(["5000-0"]);
  });

  test("is forgotten a week after its end, and with its source", async () => {
    const [source, ended] = [newSource(), newSource()];
    await record(source, [{ id: "1-0" }]);
    await Promise.all([history.deleteEvents(source, {}), history.deleteEvents(ended, {})]);
    await history.deleteSource(ended);
    await history.sweep();
    expect([await history.listDeletions(source), await history.listDeletions(ended)]).toMatchObject([[{ deleted: 1 }], []]);
    await postgres.client.query("update event_deletions set finished_at = finished_at - interval '8 days' where source = $1", [source]);
    await history.sweep();
    expect(await history.listDeletions(source)).toEqual([]);
  });
});
