import { beforeAll, describe, expect, test } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { releaseWebhook } from "./fake-operator.ts";
import { acme, ada, bob, keys, others, withApi, type Answer } from "./support.ts";

/** A Tuesday; the API's time throughout. */
const now = Date.UTC(2026, 1, 10, 12);
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken, failureLimit: { requests: 20, windowMs: 60_000 } }, { clock: { now: () => now } });

const admin = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, `/admin/v1${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
const made = async (path: string, body: object) => {
  const { status, body: answer } = await admin("POST", path, body);
  expect([status, answer.error]).toEqual([200, undefined]);
  return answer.data;
};

describe("the admin token", () => {
  test("is required by every route: API keys and parts of the token are refused", async () => {
    const routes = [
      ["GET", "/users"],
      ["POST", "/users"],
      ["GET", `/users/${ada.id}`],
      ["DELETE", `/users/${ada.id}`],
      ["GET", `/users/${ada.id}/keys`],
      ["GET", "/orgs"],
      ["PUT", `/orgs/${acme.id}/members/${bob.id}`],
      ["DELETE", `/orgs/${acme.id}`],
      ["PUT", "/plans/default"],
      ["DELETE", "/plans/default"],
    ] as const;
    for (const [index, [method, path]] of routes.entries()) {
      const key = [keys.ada, adminToken.slice(0, -1), `${adminToken}x`, null][index % 4] ?? null;
      const { status, body, headers } = await api.ask(method, `/admin/v1${path}`, { key });
      expect([path, status, body.code, headers.get("www-authenticate")]).toEqual([path, 401, "unauthenticated", "Bearer"]);
    }
    expect((await api.accounts.listMembers(acme.id)).map(({ id }) => id)).toEqual([ada.id]);
    expect((await admin("GET", "/users")).status).toBe(200);
  });

  test("is not accepted as an API key", async () => {
    expect((await api.ask("GET", "/v1/users/me", { key: adminToken })).status).toBe(401);
  });

  test("is never logged, and each request logs one line", async () => {
    await admin("GET", `/users/${ada.id}`);
    expect(JSON.stringify(api.log)).not.toContain(adminToken);
    expect(api.log.at(-1)).toMatchObject({ op: "http.request", "http.route": "/admin/v1/users/:id", "http.response.status_code": 200 });
  });
});

describe("the status of the installation", () => {
  test("has versions, checks, streams, runners by pool and replicas of delivery", async () => {
    const { status, body } = await admin("GET", "/status");
    expect(status).toBe(200);
    expect(body.data).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      nats_version: "2.15.1",
      ready: true,
      checks: { database: "ok" },
      backlog: 0,
      streams: [{ name: "RUNS", messages: 3, bytes: 900, max_bytes: null, limit_bytes: null, replicas: 1 }],
      problems: [],
      lag: { oldest_invocation_at: null, unrouted: 0, due: 0, scheduled: 2, ordered: 0, unrecorded: 0 },
      pools: [{ name: "default", runners: [{ id: "r1", memory_share: 0.25, full_sources: 0 }] }],
      deliveries: [{ id: "d1", partitions: [0, 1] }],
    });
  });
});

describe("users", () => {
  test("are created, found, listed and deleted", async () => {
    const user = await made("/users", { username: "cleo", email: "cleo@example.com" });
    expect(user).toEqual({
      id: expect.stringMatching(/^u_[0-9a-z]{12}$/),
      username: "cleo",
      email: "cleo@example.com",
      email_confirmed: false,
      plan: "default",
      created_at: expect.any(Number),
    });
    expect((await admin("GET", `/users/${user.id}`)).body.data).toEqual(user);
    const listed = (await admin("GET", "/users?limit=1")).body;
    expect([listed.data, listed.page_info.total_count]).toEqual([[user], 3]);
    const rest = (await admin("GET", `/users?after=${listed.page_info.end_cursor}`)).body.data;
    expect(rest.map(({ id }: { id: string }) => id).toSorted()).toEqual([ada.id, bob.id]);
    expect((await admin("DELETE", `/users/${user.id}`)).status).toBe(204);
    expect((await admin("GET", `/users/${user.id}`)).status).toBe(404);
  });

  test.each([
    [{ username: "ada", email: "new@example.com" }, 409, "the username is taken"],
    [{ username: "new", email: "ada@example.com" }, 409, "the email address is taken"],
    [{ username: "two words", email: "new@example.com" }, 422, "username is invalid: it must be letters, digits"],
    [{ username: "new", email: "unknown" }, 422, "email is invalid: it must be an address"],
    [{ username: "new" }, 422, "email is missing"],
  ])("as %j return %d: %s", async (body, status, message) => {
    const answer = await admin("POST", "/users", body);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(message)]);
  });

  test("are not deleted while they own resources, which the error names", async () => {
    const user = await made("/users", { username: "owner", email: "owner@example.com" });
    const { key } = await made(`/users/${user.id}/keys`, { name: "first" });
    const webhook = (await api.ask("POST", "/v1/webhooks?url=https://x.test/", { key })).body.data;
    const { status, body } = await admin("DELETE", `/users/${user.id}`);
    expect([status, body.code, body.details]).toEqual([409, "user_owns_resources", { kinds: ["Webhook"] }]);
    expect((await api.ask("GET", "/v1/users/me", { key })).status).toBe(200);
    await api.ask("DELETE", `/v1/webhooks/${webhook.id}`, { key });
    await releaseWebhook(api.store, webhook.id);
    expect((await admin("DELETE", `/users/${user.id}`)).status).toBe(204);
    expect((await api.ask("GET", "/v1/users/me", { key })).status).toBe(401);
  });

  test("return 404 for unknown and for malformed ids", async () => {
    for (const id of ["u_none", acme.id, "none", "%00"])
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["GET", "/keys"],
        ["DELETE", "/keys/pk_x"],
        ["PUT", "/plan"],
      ] as const)
        expect([id, path, (await admin(method, `/users/${id}${path}`)).status]).toEqual([id, path, 404]);
  });
});

describe("keys of a user", () => {
  test("are created with any scope, shown once, listed and revoked", async () => {
    const { key, ...rest } = await made(`/users/${bob.id}/keys`, { name: "for bob", scopes: ["read"] });
    expect(rest).toMatchObject({ name: "for bob", scopes: ["read"], expires_at: null });
    expect((await api.ask("GET", "/v1/users/me", { key })).body.data.id).toBe(bob.id);
    const listed = (await admin("GET", `/users/${bob.id}/keys`)).body.data;
    expect(listed[0]).toEqual({ ...rest, last_used_at: expect.any(Number) });
    expect((await admin("DELETE", `/users/${ada.id}/keys/${rest.id}`)).status).toBe(404);
    expect((await admin("DELETE", `/users/${bob.id}/keys/${rest.id}`)).status).toBe(204);
    expect((await api.ask("GET", "/v1/users/me", { key })).status).toBe(401);
  });
});

describe("organizations", () => {
  test("are created with admins, who manage the members", async () => {
    const body = { name: "New Ones", orgname: "new-ones", email: "new@example.com", admins: [ada.id, ada.id] };
    const organization = await made("/orgs", body);
    expect(organization).toMatchObject({ id: expect.stringMatching(/^o_/), name: "New Ones", orgname: "new-ones", plan: "default" });
    expect((await admin("GET", `/orgs/${organization.id}`)).body.data).toEqual(organization);
    expect((await admin("GET", "/orgs?limit=1")).body.data).toEqual([organization]);
    expect((await admin("GET", `/orgs/${organization.id}/members`)).body.data).toEqual([member(ada, "admin")]);
    const invited = await api.ask("POST", `/v1/orgs/${organization.id}/members`, { body: { username: "bob" } });
    expect((await api.ask("GET", `/v1/orgs/${organization.id}/sources`, { key: keys.bob })).status).toBe(403);
    expect((await api.ask("POST", `/v1/users/me/invitations/${invited.body.data.id}/accept`, { key: keys.bob })).status).toBe(200);
    expect((await api.ask("GET", `/v1/orgs/${organization.id}/sources`, { key: keys.bob })).status).toBe(200);
    expect((await admin("POST", "/orgs", body)).body.error).toBe("the orgname is taken");
    const unknown = await admin("POST", "/orgs", { ...body, orgname: "other", admins: ["u_none"] });
    expect([unknown.status, unknown.body.error]).toEqual([404, "the user does not exist"]);
  });

  test("add, change and remove members", async () => {
    const path = `/orgs/${others.id}/members/${ada.id}`;
    expect((await admin("PUT", path, { role: "member" })).body.data).toEqual(member(ada, "member"));
    expect((await admin("PUT", path, { role: "admin" })).body.data).toEqual(member(ada, "admin"));
    expect((await api.ask("GET", `/v1/orgs/${others.id}/sources`)).status).toBe(200);
    expect((await admin("PUT", path, { role: "owner" })).body.error).toBe("role is invalid: it must be admin or member");
    expect((await admin("DELETE", path)).status).toBe(204);
    expect((await api.ask("GET", `/v1/orgs/${others.id}/sources`)).status).toBe(403);
    for (const missing of [path, "/orgs/o_none/members/u_ada", `/orgs/${others.id}/members/o_acme`])
      expect([missing, (await admin("DELETE", missing)).status]).toEqual([missing, 404]);
  });
});

describe("members of an organization", () => {
  const path = `/v1/orgs/${acme.id}/members`;
  const put = (id: string, role: string, key: string = keys.ada): Promise<Answer> =>
    api.ask("PUT", `${path}/${id}`, { key, body: { role } });

  test("are listed for members and managed only by admins", async () => {
    const member = ({ id, username }: typeof ada, role: string): object => ({ user_id: id, username, role });
    expect((await api.ask("GET", path)).body.data).toEqual([member(ada, "admin")]);
    expect((await api.ask("GET", path, { key: keys.bob })).status).toBe(403);
    expect((await put(bob.id, "member", keys.bob)).body.code).toBe("forbidden");
    expect((await put(bob.id, "member")).status).toBe(404);
    await api.accounts.putMember(bob.id, acme.id, "admin");
    expect((await put(bob.id, "member")).body.data).toEqual(member(bob, "member"));
    expect((await api.ask("GET", path, { key: keys.bob })).body.data).toEqual([member(ada, "admin"), member(bob, "member")]);
    expect((await put(bob.id, "admin", keys.bob)).body.code).toBe("not_an_admin");
    expect((await api.ask("DELETE", `${path}/${ada.id}`, { key: keys.bob })).body.code).toBe("not_an_admin");
    expect((await put("u_none", "member")).status).toBe(404);
  });

  test("keep at least one admin", async () => {
    await put(bob.id, "member");
    expect((await put(ada.id, "member")).body.code).toBe("last_admin");
    expect((await api.ask("DELETE", `${path}/${ada.id}`)).body.code).toBe("last_admin");
    await put(bob.id, "admin");
    expect((await put(ada.id, "member", keys.bob)).status).toBe(200);
    await put(ada.id, "admin", keys.bob);
    expect((await api.ask("DELETE", `${path}/${bob.id}`)).status).toBe(204);
    expect((await api.ask("GET", path, { key: keys.bob })).status).toBe(403);
  });
});

describe("plans", () => {
  const me = async () => (await api.ask("GET", "/v1/users/me")).body.data;

  beforeAll(async () => {
    const runs = [
      { at: Date.UTC(2026, 0, 31, 23), count: 1 },
      { at: Date.UTC(2026, 1, 1), count: 2 },
      { at: Date.UTC(2026, 1, 10, 10), count: 3 },
    ];
    const commits = runs.flatMap(({ at, count }) => Array.from({ length: count }, () => commitAt(at)));
    await api.history.recordCommits(
      "RUNS",
      commits.map((commit, index) => ({ seq: index + 1, commit })),
    );
  });

  test("have no limits by default", async () => {
    expect(await me()).toMatchObject({
      daily_invocations_quota: Number.MAX_SAFE_INTEGER,
      daily_invocations_used: 3,
      daily_compute_time_quota: Number.MAX_SAFE_INTEGER,
      daily_compute_time_used: 30,
    });
  });

  test("show the usage of the day against quotas in the free form", async () => {
    const plan = { form: "free", daily_invocations_quota: 100, daily_compute_time_quota: 60_000 };
    expect((await admin("PUT", "/plans/small", plan)).body.data).toEqual({ name: "small", ...plan, weight: 1, max_organizations: 20 });
    expect((await admin("PUT", `/users/${ada.id}/plan`, { plan: "small" })).body.data.name).toBe("small");
    expect(await me()).toEqual({
      ...ada,
      email_confirmed: true,
      orgs: expect.any(Array),
      daily_invocations_quota: 100,
      daily_invocations_used: 3,
      daily_compute_time_quota: 60_000,
      daily_compute_time_used: 30,
    });
    expect((await admin("GET", `/users/${ada.id}`)).body.data.plan).toBe("small");
  });

  test("show the usage of the month in the paid form", async () => {
    await admin("PUT", "/plans/pro", { form: "paid" });
    await admin("PUT", `/users/${ada.id}/plan`, { plan: "pro" });
    expect(await me()).toEqual({
      ...ada,
      email_confirmed: true,
      orgs: expect.any(Array),
      billing_period_start_ts: Date.UTC(2026, 1, 1) / 1_000,
      billing_period_end_ts: Date.UTC(2026, 2, 1) / 1_000,
      billing_period_invocations: 5,
    });
  });

  test("apply to users and organizations, and unknown plans are refused", async () => {
    expect((await admin("PUT", `/orgs/${acme.id}/plan`, { plan: "pro" })).status).toBe(200);
    expect((await admin("GET", `/orgs/${acme.id}`)).body.data.plan).toBe("pro");
    expect((await admin("GET", "/plans")).body.data.map(({ name }: { name: string }) => name)).toEqual(["default", "pro", "small"]);
    expect((await admin("PUT", `/users/${ada.id}/plan`, { plan: "none" })).status).toBe(404);
    expect((await admin("PUT", "/plans/x", { form: "golden" })).body.error).toBe("form is invalid: it must be free or paid");
    expect((await admin("PUT", "/plans/x", { form: "free", daily_invocations_quota: -1 })).status).toBe(422);
    expect((await admin("PUT", "/plans/pro", { form: "paid", weight: 4 })).body.data.weight).toBe(4);
    for (const [weight, why] of [
      [0, "at least 1"],
      [101, "at most 100"],
      [1.5, "an integer"],
    ] as const)
      expect((await admin("PUT", "/plans/x", { form: "free", weight })).body.error).toBe(`weight is invalid: it must be ${why}`);
  });
});

test("limits wrong tokens without delaying the right one", async () => {
  const guesses = await Promise.all(Array.from({ length: 25 }, (_, n) => api.ask("GET", "/admin/v1/users", { key: `guess-${n}` })));
  expect(guesses.at(-1)?.body.code).toBe("too_many_failures");
  expect(Number(guesses.at(-1)?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await admin("GET", "/users")).status).toBe(200);
});

const member = ({ id, username, email }: typeof ada, role: string): object => ({ user_id: id, username, email, role });

function commitAt(startedAt: number): Commit {
  return {
    source: "dc_x",
    owner: ada.id,
    deployment: "d_x",
    run: { id: `r_${startedAt}`, trigger: "timer", generation: 1, startedAt, durationMs: 10, cpuMs: 1, result: null },
    events: [],
    logs: [],
    error: null,
    state: emptyState,
  };
}
