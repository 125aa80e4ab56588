import { describe, expect, test } from "vitest";
import { emptyState, type Commit, type CommittedRun } from "../../../domain/run/commit.ts";
import type { PageRequest } from "../../../domain/page.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { ada, keys, withApi } from "../api/support.ts";
import { withHistory } from "../postgres/support.ts";

const api = withApi();
const postgres = withMigratedPostgres();
const history = withHistory({ kept: { ticks: 5 } }, postgres);
const all: PageRequest = { limit: 100, cursor: null };

/** The run of a tick that was due at `dueAt` and started `lateMs` later. */
function tick(source: string, dueAt: number, lateMs: number, skippedTicks: readonly number[] = []): Commit {
  const run: CommittedRun = {
    id: `r_${source.slice(3)}${dueAt}`,
    trigger: "timer",
    generation: 1,
    startedAt: dueAt + lateMs,
    durationMs: 5,
    cpuMs: 1,
    result: null,
    dueAt,
    ...(skippedTicks.length === 0 ? {} : { skippedTicks }),
  };
  return { source, owner: ada.id, deployment: "d_1", run, events: [], logs: [], error: null, state: emptyState };
}

const sequenced = (commits: readonly Commit[], from = 1) => commits.map((commit, index) => ({ seq: from + index, commit }));
const listed = async (source: string) =>
  (await history.pageTicks(source, all)).items.map(({ dueAt, run }) => `${dueAt} ${run === null ? "skipped" : run.startedAt - dueAt}`);

describe("ticks", () => {
  test("are stored in the order in which they were due, with the skipped ticks that a run reports, each once", async () => {
    const batch = sequenced([tick("dc_order", 1_000, 3), tick("dc_order", 2_000, 2_500, [3_000, 4_000]), tick("dc_order", 5_000, 0)]);
    await Promise.all([history.recordCommits("order", batch), history.recordCommits("order", batch.slice(0, 2))]);
    await history.recordCommits("order", batch);
    expect(await listed("dc_order")).toEqual(["5000 0", "4000 skipped", "3000 skipped", "2000 2500", "1000 3"]);
  });

  test("are kept up to the configured number, and deleted with their source", async () => {
    for (let n = 1; n <= 20; n++) await history.recordCommits("many", sequenced([tick("dc_many", n * 1_000, 0)], n));
    expect(await listed("dc_many")).toEqual([20, 19, 18, 17, 16].map((n) => `${n}000 0`));
    await history.deleteSource("dc_many");
    expect(await listed("dc_many")).toEqual([]);
  });

  test("are not stored for other triggers, and ignore a forged time", async () => {
    const manual: Commit = { ...tick("dc_forged", 1_000, 0), run: { ...tick("dc_forged", 1_000, 0).run, trigger: "manual" } };
    await history.recordCommits("forged", sequenced([manual, tick("dc_forged", 8e15, 0, [-1, 2e15, 7_000]), tick("dc_forged", 9_000, 1)]));
    expect(await listed("dc_forged")).toEqual(["9000 1", "7000 skipped"]);
  });
});

describe("GET /v1/sources/{id}/ticks", () => {
  const deployed = async (): Promise<string> =>
    (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Ticking" } })).body.data.id;

  test("returns the result of each tick, newest first, in pages", async () => {
    const source = await deployed();
    await api.history.recordCommits("API", sequenced([tick(source, 10_000, 1_000), tick(source, 20_000, 1_001, [30_500])]));
    const path = `/v1/sources/${source}/ticks`;
    const { status, body } = await api.ask("GET", path);
    expect(status).toBe(200);
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^30500-\d+$/),
        due_at: 30,
        due_at_ms: 30_500,
        state: "skipped",
        reason: "earlier_tick_unfinished",
        run_id: null,
        started_at: null,
        started_at_ms: null,
        late_ms: null,
      },
      expect.objectContaining({ due_at_ms: 20_000, state: "late", reason: "waited", started_at_ms: 21_001, late_ms: 1_001 }),
      expect.objectContaining({ due_at: 10, state: "fired", reason: null, run_id: `r_${source.slice(3)}10000`, late_ms: 1_000 }),
    ]);
    const dueOf = async (query: string) =>
      (await api.ask("GET", `${path}?${query}`)).body.data.map((each: { due_at_ms: number }) => each.due_at_ms);
    expect(await dueOf("limit=2")).toEqual([30_500, 20_000]);
    expect(await dueOf(`limit=1&after=${body.page_info.start_cursor}`)).toEqual([20_000]);
    expect(await dueOf(`limit=1&before=${body.page_info.end_cursor}`)).toEqual([20_000]);
    expect(body.page_info).toMatchObject({ total_count: 3, count: 3 });
  });

  test("returns 404 for another owner's source, and 422 for an unknown cursor", async () => {
    const source = await deployed();
    expect((await api.ask("GET", `/v1/sources/${source}/ticks`, { key: keys.bob })).status).toBe(404);
    expect((await api.ask("GET", `/v1/sources/${source}/ticks?after=x`)).status).toBe(422);
  });
});
