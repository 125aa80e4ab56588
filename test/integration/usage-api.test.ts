import { describe, expect, test } from "vitest";
import { usageSchema } from "../../api/owners/usage.ts";
import { emptyState, type Commit } from "../../domain/run/commit.ts";
import { createDeliveryRecords } from "../../platform/postgres/history/deliveries.ts";
import { acme, ada, keys, withApi } from "./api/support.ts";
import { committedEvent } from "./committed-event.ts";

let now = Date.UTC(2026, 1, 28, 22);
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken }, { clock: { now: () => now } });

const usage = async (path = "/users/me/usage") => usageSchema.parse((await api.ask("GET", `/v1${path}`)).body.data);

const commitOf = (owner: string): Commit => ({
  source: "dc_used",
  owner,
  deployment: "d_1",
  run: { id: "r_1", trigger: "http", generation: 1, startedAt: now, durationMs: 70, cpuMs: 1, result: null },
  events: [committedEvent(`${now}-0`, {}), committedEvent(`${now}-1`, {})],
  logs: [],
  error: null,
  state: emptyState,
});

const attemptOf = (owner: string) => ({
  delivery: "dlv_1",
  webhook: "wh_1",
  source: "dc_used",
  owner,
  subscription: "sub_1",
  event: `${now}-0`,
  emitId: "em_1",
  channel: "",
  at: now,
  durationMs: 5,
  status: 200,
  error: null,
});

describe("GET /v1/users/me/usage", () => {
  test("counts runs, run time, events and successful deliveries of the day, against the plan's quotas", async () => {
    await api.ask("PUT", "/admin/v1/plans/small", { key: adminToken, body: { form: "free", daily_invocations_quota: 1 } });
    await api.ask("PUT", `/admin/v1/users/${ada.id}/plan`, { key: adminToken, body: { plan: "small" } });
    await api.history.recordCommits("RUNS", [{ seq: 1, commit: commitOf(ada.id) }]);
    const records = createDeliveryRecords(api.database);
    const attempt = attemptOf(ada.id);
    await records.recordAttempts([
      { ...attempt, attempt: 1, outcome: "retry" },
      { ...attempt, attempt: 2, outcome: "delivered" },
    ]);
    await records.recordAttempts([{ ...attempt, attempt: 2, outcome: "delivered" }]);
    const midnight = Date.UTC(2026, 2, 1) / 1_000;
    expect(await usage()).toEqual({
      owner_id: ada.id,
      plan: "small",
      period_start_ts: midnight - 86_400,
      reset_ts: midnight,
      invocations: { used: 1, quota: 1 },
      run_time_ms: { used: 70, quota: null },
      events: { used: 2 },
      deliveries: { used: 1 },
      quota_exceeded_until: midnight,
    });
    now = midnight * 1_000;
    expect(await usage()).toMatchObject({
      invocations: { used: 0 },
      events: { used: 0 },
      deliveries: { used: 0 },
      quota_exceeded_until: null,
    });
  });

  test("returns an organization's usage to its members only", async () => {
    await api.history.recordCommits("RUNS", [{ seq: 2, commit: commitOf(acme.id) }]);
    expect(await usage(`/orgs/${acme.id}/usage`)).toMatchObject({ owner_id: acme.id, invocations: { used: 1 }, events: { used: 2 } });
    expect(await usage(`/users/me/usage?org_id=${acme.id}`)).toMatchObject({ owner_id: acme.id });
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/usage`, { key: keys.bob })).status).toBe(403);
  });
});
