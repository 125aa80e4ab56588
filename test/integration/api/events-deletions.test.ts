import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { keys, withApi } from "./support.ts";

/** Deletions of events as their owner sees them: accepted at once, executed in batches. */
const api = withApi();

async function createSource(events: number): Promise<string> {
  const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data;
  await sql`
    insert into events (source, ms, seq, emit_id, channel, ts, payload, run)
    select ${id}, 1000 + n, 0, 'em_' || n, case when n % 2 = 0 then 'even' else '' end, 1, '{}', 'r_1' from generate_series(1, ${events}::int) n`.execute(
    api.database.db,
  );
  return id;
}

const deletions = async (source: string) => (await api.ask("GET", `/v1/sources/${source}/events/deletions`)).body.data;
const shownOf = async (source: string) => (await api.ask("GET", `/v1/sources/${source}/event_summaries`)).body.page_info.total_count;

describe("the deletions of a source", () => {
  test("of few events finish before the response", async () => {
    const source = await createSource(4);
    expect(await deletions(source)).toEqual([]);
    const { status, text } = await api.ask("DELETE", `/v1/sources/${source}/events?start_id=1002-0&end_id=1003-0&event_name=even`);
    expect([status, text, await shownOf(source)]).toEqual([202, " ", 3]);
    expect(await deletions(source)).toEqual([
      {
        id: expect.stringMatching(/^ed_\d+$/),
        source_id: source,
        status: "finished",
        start_id: "1002-0",
        end_id: "1003-0",
        event_name: "even",
        deleted: 1,
        created_at_ms: expect.any(Number),
        finished_at_ms: expect.any(Number),
      },
    ]);
  });

  test("of many events are pending, and hide them in the meantime", async () => {
    const source = await createSource(1_500);
    await api.ask("DELETE", `/v1/sources/${source}/events?end_id=9999-0`);
    const [first] = await deletions(source);
    expect(first).toMatchObject({
      status: "pending",
      start_id: null,
      end_id: "2500-0",
      event_name: null,
      deleted: 1_000,
      finished_at_ms: null,
    });
    expect(await shownOf(source)).toBe(0);
    expect((await api.ask("GET", `/v1/sources/${source}/events`)).body.data).toEqual([]);
    expect([await api.history.listEvents(source, {}), await api.history.findEvent(source, "2400-0")]).toEqual([[], undefined]);
    while (await api.history.continueDeletions());
    expect(await deletions(source)).toMatchObject([{ ...first, status: "finished", deleted: 1_500, finished_at_ms: expect.any(Number) }]);
  });

  test("are listed newest first, also those without events", async () => {
    const source = await createSource(0);
    for (const name of ["a", "b"]) await api.ask("DELETE", `/v1/sources/${source}/events?event_name=${name}`);
    expect(await deletions(source)).toMatchObject([
      { event_name: "b", status: "finished", deleted: 0, end_id: null },
      { event_name: "a", status: "finished", deleted: 0, end_id: null },
    ]);
  });

  test("return 404 for other users", async () => {
    const source = await createSource(0);
    expect((await api.ask("GET", `/v1/sources/${source}/events/deletions`, { key: keys.bob })).status).toBe(404);
  });
});
