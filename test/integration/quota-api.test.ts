import { describe, expect, test } from "vitest";
import { emptyState, type Commit } from "../../domain/run/commit.ts";
import { userSchema } from "../../api/owners/schemas.ts";
import { acme, ada, withApi } from "./api/support.ts";

let now = Date.UTC(2026, 1, 28, 22);
const midnight = Date.UTC(2026, 2, 1);
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken }, { clock: { now: () => now } });

const me = async () => userSchema.parse((await api.ask("GET", "/v1/users/me")).body.data);
const admin = async (path: string, body: object): Promise<void> => {
  const { status, body: answer } = await api.ask("PUT", `/admin/v1${path}`, { key: adminToken, body });
  expect([status, answer.error]).toEqual([200, undefined]);
};

let seq = 0;
async function use(owner: string, durationMs: number): Promise<void> {
  const run = { id: `r_${++seq}`, trigger: "http", generation: 1, startedAt: now, durationMs, cpuMs: 1, result: null } as const;
  const commit: Commit = { source: "dc_used", owner, deployment: "d_1", run, events: [], logs: [], error: null, state: emptyState };
  await api.history.recordCommits("RUNS", [{ seq, commit }]);
}

describe("a used-up daily quota", () => {
  test("returns when it ends, for both quotas, until then or until the plan is raised", async () => {
    await admin("/plans/free", { form: "free", daily_invocations_quota: 2, daily_compute_time_quota: 1_000 });
    await admin("/plans/paid", { form: "paid", daily_compute_time_quota: 1_000 });
    await admin(`/users/${ada.id}/plan`, { plan: "free" });
    await use(ada.id, 10);
    expect(await me()).not.toHaveProperty("quota_exceeded_until");
    await use(ada.id, 10);
    expect(await me()).toMatchObject({
      daily_invocations_quota: 2,
      daily_invocations_used: 2,
      daily_compute_time_used: 20,
      quota_exceeded_until: midnight / 1_000,
    });
    await admin(`/users/${ada.id}/plan`, { plan: "paid" });
    expect(await me()).not.toHaveProperty("quota_exceeded_until");
    await use(ada.id, 980);
    expect(await me()).toMatchObject({ billing_period_invocations: 3, quota_exceeded_until: midnight / 1_000 });
    await admin("/plans/paid", { form: "paid", daily_compute_time_quota: 1_001 });
    expect(await me()).not.toHaveProperty("quota_exceeded_until");
  });

  test("of an organization returns it to its members", async () => {
    const organization = async () => (await api.ask("GET", `/v1/orgs/${acme.id}`)).body.data;
    await admin(`/orgs/${acme.id}/plan`, { plan: "free" });
    expect(await organization()).toEqual({ ...acme, email_confirmed: false });
    await use(acme.id, 1_000);
    expect(await organization()).toEqual({ ...acme, email_confirmed: false, quota_exceeded_until: midnight / 1_000 });
  });

  test("refuses runs until the quota's end, and accepts dry runs", async () => {
    const { body } = await api.ask("POST", "/v1/sources", {
      body: { component_code: "export default { name: 'a', run() {} }", name: "a" },
    });
    const path = `/v1/sources/${body.data.id}/runs`;
    await admin("/plans/free", { form: "free", daily_invocations_quota: 3 });
    await admin(`/users/${ada.id}/plan`, { plan: "free" });
    const refused = await api.ask("POST", path, { body: {} });
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([429, "quota_exceeded", "7200"]);
    expect(refused.body.error).toContain("2026-03-01T00:00:00.000Z");
    expect(api.ran).toEqual([]);
    expect((await api.ask("POST", path, { body: { dry_run: true } })).status).toBe(504); // No runner is running.
    now = midnight;
    expect((await api.ask("POST", path, { body: {} })).status).toBe(202);
    expect(api.ran).toHaveLength(1);
    expect(await me()).toMatchObject({ daily_invocations_used: 0, daily_compute_time_used: 0 });
    expect((await api.ask("GET", `/v1/orgs/${acme.id}`)).body.data).toEqual({ ...acme, email_confirmed: false });
  });
});
