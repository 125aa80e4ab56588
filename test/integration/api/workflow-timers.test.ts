import { beforeAll, describe, expect, test } from "vitest";
import type { BackfillRequest } from "../../../api/workflows/ports.ts";
import { recordable, workflowCommit } from "../../domain/run/workflow-commits.ts";
import { ada, keys, withApi } from "./support.ts";

const requests: BackfillRequest[] = [];
const api = withApi(
  {},
  {
    runs: {
      run: async () => ({ ended: Promise.resolve(undefined) }),
      dryRun: async () => ({ outcome: Promise.resolve(undefined) }),
      control: async () => undefined,
      backfill: async (request) => void requests.push(request),
    },
  },
);
const timer = { type: "timer", cron: "0 9 * * *", jitter_seconds: 60, overlap: "queue", catch_up: 5 };
const create = (triggers: readonly object[], more: object = {}) =>
  api.ask("POST", "/v1/workflows", { body: { name: `Timers ${Math.random()}`, triggers, ...more } });
let [id, trigger, http] = ["", "", ""];

beforeAll(async () => {
  const { data } = (await create([{ type: "http" }, timer])).body;
  [id, http, trigger] = [data.id, data.triggers[0].id, data.triggers[1].id];
});

describe("a timer of a workflow", () => {
  test("is shown with its options, and can be sent back", async () => {
    const { triggers } = (await api.ask("GET", `/v1/workflows/${id}`)).body.data;
    expect(triggers[1]).toEqual({ id: trigger, timezone: "UTC", ...timer });
    const { body } = await api.ask("PUT", `/v1/workflows/${id}`, { body: { triggers } });
    expect(body.data.triggers[1]).toEqual(triggers[1]);
  });

  test.each([
    [{ overlap: "never" }, "triggers.0.overlap", "allow, skip, queue, cancel"],
    [{ jitter_seconds: 0 }, "triggers.0.jitter_seconds", "an integer from 1 to 86400"],
    [{ catch_up: 101 }, "triggers.0.catch_up", "an integer from 1 to 100"],
    [{ jitter_seconds: 86_400 }, "triggers.0", "must be less than the 86400 seconds between two ticks"],
  ])("refuses %j, naming field and values", async (options, field, values) => {
    const { status, body } = await create([{ type: "timer", cron: "0 9 * * *", ...options }]);
    expect([status, body.error]).toEqual([422, expect.stringContaining(values)]);
    expect(JSON.stringify(body)).toContain(field);
  });
});

const backfill = (body: object, of = trigger, key: string = keys.ada, workflow = id) =>
  api.ask("POST", `/v1/workflows/${workflow}/triggers/${of}/backfill`, { body, key });

describe("POST /workflows/{id}/triggers/{trigger_id}/backfill", () => {
  test("starts one run for each tick of the range", async () => {
    const { status, body } = await backfill({ from: "2026-01-01T09:00:00Z", to: "2026-01-04T09:00:00+00:00" });
    const [firstAt, lastAt] = [Date.UTC(2026, 0, 1, 9), Date.UTC(2026, 0, 3, 9)];
    expect([status, body.data]).toEqual([202, { workflow_id: id, trigger_id: trigger, runs: 3, first_at_ms: firstAt, last_at_ms: lastAt }]);
    expect(requests.at(-1)).toMatchObject({
      source: id,
      owner: ada.id,
      pool: "default",
      firstAt,
      schedule: { cron: "0 9 * * *" },
      backfill: { until: Date.UTC(2026, 0, 4, 9), inTurn: true },
    });
  });

  test("takes epoch milliseconds, and ends now by default", async () => {
    const { body } = await backfill({ from: Date.now() - 3 * 86_400_000 });
    expect(body.data.runs).toBe(3);
  });

  test.each([
    [{ from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" }, "must be before the end of the range"],
    [{ from: "2026-01-01T10:00:00Z", to: "2026-01-01T11:00:00Z" }, "the timer has no tick"],
    [{ from: "2026-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z" }, "is in the future"],
    [{ from: "2020-01-01T00:00:00Z" }, "more than 1000 ticks: send one that ends at or before 2022-09-27T09:00:00.000Z"],
    [{ from: "yesterday" }, "epoch milliseconds or RFC 3339"],
    [{ from: "1969-12-01T00:00:00Z" }, "epoch milliseconds or RFC 3339"],
    [{}, "from"],
  ])("refuses the range %j", async (body, message) => {
    const before = requests.length;
    const { status, body: answer } = await backfill(body);
    expect([status, answer.error]).toEqual([422, expect.stringContaining(message)]);
    expect(requests).toHaveLength(before);
  });

  test("refuses other triggers, unknown ones, inactive workflows and those of others", async () => {
    const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-04T00:00:00Z" };
    expect((await backfill(range, http)).body.error).toContain("is no timer");
    const unknown = await backfill(range, "ti_none");
    expect([unknown.status, unknown.body.error]).toEqual([404, expect.stringContaining("has no trigger ti_none")]);
    const paused = (await create([timer], { active: false })).body.data;
    const refused = await backfill(range, paused.triggers[0].id, keys.ada, paused.id);
    expect([refused.status, refused.body.code]).toEqual([409, "workflow_inactive"]);
    expect((await backfill(range, trigger, keys.bob)).status).toBe(404);
  });
});

test("GET /workflows/{id}/ticks lists ticks with the reasons of skipped ones", async () => {
  const dueAt = 1_767_258_000_000;
  const run = {
    ...workflowCommit().run,
    trigger: "timer",
    startedAt: dueAt + 1,
    dueAt,
    skippedTicks: [dueAt - 2],
    missedTicks: [dueAt - 1],
  } as const;
  await api.history.recordCommits("RUNS", [{ seq: 1, commit: recordable({ source: id, owner: ada.id, run }) }]);
  const { body } = await api.ask("GET", `/v1/workflows/${id}/ticks`);
  expect(body.data.map(({ state, reason, run_id }: Record<string, unknown>) => [state, reason, run_id])).toEqual([
    ["fired", null, run.id],
    ["skipped", "missed", null],
    ["skipped", "earlier_tick_unfinished", null],
  ]);
  expect((await api.ask("GET", `/v1/workflows/${id}/ticks`, { key: keys.bob })).status).toBe(404);
});
