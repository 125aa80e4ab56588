import { beforeAll, describe, expect, test } from "vitest";
import type { Commit } from "../../../domain/run/commit.ts";
import { errorEvent, logEvent } from "../../../domain/run/derived-events.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { ada, keys, withApi } from "./support.ts";
import { commitOf } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";

/** What a source emitted within a range of time, and the metadata from its runs. */
const api = withApi();
const startedAt = 1_700_000_000_000;
let seq = 0;

async function createSource(): Promise<string> {
  return (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
}

const record = (commit: Commit) => api.history.recordCommits("TEST", [{ seq: ++seq, commit }]);

async function page(source: string, query: string) {
  return (await api.ask("GET", `/v1/sources/${source}/event_summaries?${query}`)).body;
}
const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] => data.map(({ id }) => id);

describe("events in a time range", () => {
  let source: string;
  beforeAll(async () => {
    source = await createSource();
    const events = [1, 2, 3, 4, 5].flatMap((n) => [event(`${n}00-0`), event(`${n}00-1`, { channel: "c" })]);
    await record(commitOf(source, ada.id, events));
  });

  test.each([
    ["since=300", 6, ["500-1", "500-0", "400-1", "400-0", "300-1", "300-0"]],
    ["until=200", 4, ["200-1", "200-0", "100-1", "100-0"]],
    ["since=200&until=300", 4, ["300-1", "300-0", "200-1", "200-0"]],
    ["since=201&until=299", 0, []],
    ["since=200&until=400&event_name=c", 3, ["400-1", "300-1", "200-1"]],
    ["since=200&until=400&event_name=c&limit=2", 3, ["400-1", "300-1"]],
    ["since=200&until=400&event_name=c&limit=2&after=300-1", 3, ["200-1"]],
    ["since=200&until=400&limit=2&before=300-0", 6, ["400-0", "300-1"]],
    ["since=&until=&event_name=c&limit=1", 5, ["500-1"]],
  ])("are selected by %s", async (query, total, expected) => {
    const found = await page(source, query);
    expect([found.page_info.total_count, idsOf(found)]).toEqual([total, expected]);
  });

  test.each(["since=yesterday", "until=-1", "since=1.5", "since=2&until=1", "since=1&since=2"])("are refused for %s", async (query) => {
    expect((await api.ask("GET", `/v1/sources/${source}/event_summaries?${query}`)).status).toBe(422);
  });
});

describe("errors and log lines of runs", () => {
  const failure = (message: string): RunError => ({ name: "TypeError", message, stack: `TypeError: ${message}`, code: "odd" });
  const commits: Commit[] = [];
  let source: string;
  beforeAll(async () => {
    source = await createSource();
    for (let n = 0; n < 5; n++) {
      const { run } = commitOf(source, ada.id, []);
      const lines = [0, 1].map((line) => ({ k: "console.log", ts: startedAt + n * 1_000 + line, msg: `line ${n}.${line}` }));
      const commit = commitOf(source, ada.id, [event(`${n + 1}-0`)], {
        run: { ...run, startedAt: startedAt + n * 1_000, durationMs: 4.6 },
        logs: lines,
        error: n % 2 === 0 ? failure(`no ${n}`) : null,
      });
      commits.push(commit);
      await record(commit);
    }
    await record(commitOf(await createSource(), ada.id, [], { error: failure("another source's") }));
  });

  test("are listed on $errors with the fields of deliveries and streams", async () => {
    const { page_info, data } = await page(source, "event_name=$errors&expand=event");
    const failed = commits.filter(({ error }) => error !== null).toReversed();
    expect(page_info).toMatchObject({ total_count: 3, count: 3, start_cursor: data[0].id, end_cursor: data[2].id });
    expect(data).toEqual(
      failed.map((commit) => {
        const { emitId, ts, payload } = errorEvent(commit, commit.error ?? failure(""));
        return {
          id: expect.stringMatching(`^${ts}-\\d+$`),
          indexed_at_ms: ts,
          event: JSON.parse(payload),
          metadata: { emit_id: emitId, name: "$errors", emitter_id: source, ts },
        };
      }),
    );
  });

  test("are listed on $logs line by line, under the ids of deliveries", async () => {
    const { page_info, data } = await page(source, "event_name=$logs&limit=100");
    const lines = commits.flatMap((commit) => commit.logs.map((line, place) => logEvent(commit, line, place))).toReversed();
    expect(page_info.total_count).toBe(10);
    expect(data.map(({ event: line, metadata }: { event: object; metadata: { emit_id: string } }) => [metadata.emit_id, line])).toEqual(
      lines.map(({ emitId, payload }) => [emitId, JSON.parse(payload)]),
    );
    expect(new Set(lines.map(({ emitId }) => emitId)).size).toBe(10);
  });

  test("have pages and time ranges like events", async () => {
    const all = await page(source, "event_name=$logs&limit=100");
    const [, second, third, fourth] = idsOf(all);
    expect(idsOf(await page(source, `event_name=$logs&limit=2&after=${second}`))).toEqual([third, fourth]);
    expect(idsOf(await page(source, `event_name=$logs&limit=1&before=${third}`))).toEqual([second]);
    const within = await page(source, `event_name=$errors&since=${startedAt + 1_000}&until=${startedAt + 3_000}`);
    expect(within.data.map((each: { event: { error: { message: string } } }) => each.event.error.message)).toEqual(["no 2"]);
    expect((await api.ask("GET", `/v1/sources/${source}/event_summaries?event_name=$errors&after=1-1`)).body.code).toBe("invalid_cursor");
  });

  test("are not events of the source, and return 404 for other users", async () => {
    expect((await page(source, "limit=100")).page_info.total_count).toBe(5);
    for (const channel of ["$errors", "$logs"])
      expect((await api.ask("GET", `/v1/sources/${source}/event_summaries?event_name=${channel}`, { key: keys.bob })).status).toBe(404);
  });

  test("include lines that an earlier version recorded", async () => {
    const older = await createSource();
    await record(commitOf(older, ada.id, [], { logs: [{ k: "console.log", ts: 7, msg: "old" }] }));
    await api.database.db.updateTable("logs").set({ place: null }).where("source", "=", older).execute();
    const { data } = await page(older, "event_name=$logs");
    expect(data).toEqual([expect.objectContaining({ indexed_at_ms: 7, event: { k: "console.log", ts: 7, msg: "old" } })]);
  });
});
