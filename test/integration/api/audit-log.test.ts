import { beforeAll, describe, expect, test } from "vitest";
import { auditEntrySchema } from "../../../api/audit/schemas.ts";
import { sql } from "kysely";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });
const secret = "sk_very_secret_value";

const entries = (answer: Answer) => auditEntrySchema.array().parse(answer.body.data);
const mine = async (query = "") => entries(await api.ask("GET", `/v1/audit_log?${query}`));
const ofAcme = (key: string) => api.ask("GET", `/v1/orgs/${acme.id}/audit_log`, { key });

let [source, account, ownedByAcme] = ["", "", ""];
beforeAll(async () => {
  const made = async (path: string, body: object): Promise<string> => (await api.ask("POST", path, { body })).body.data.id;
  source = await made("/v1/sources", {
    component_code: "name: Recorded; props: token",
    name: "recorded",
    configured_props: { token: secret },
  });
  account = await made("/v1/accounts", { app: "shop", name: "shop", credentials: { api_key: secret } });
  ownedByAcme = await made(`/v1/webhooks?org_id=${acme.id}`, { url: "https://acme.test/" });
});

describe("the audit log", () => {
  test("lists who changed what, from where, newest first", async () => {
    const [newest, previous] = await mine();
    expect(newest).toMatchObject({ action: "create", kind: "Account", resource_id: account, resource_name: "shop", owner_id: ada.id });
    expect(newest?.fields).toEqual(["app", "credentials", "name"]);
    expect(newest?.actor).toMatchObject({
      kind: "user",
      user_id: ada.id,
      key_name: "test",
      address: expect.stringMatching(/127\.0\.0\.1/),
    });
    expect(newest?.actor.key_id).toMatch(/^pk_/);
    expect(previous).toMatchObject({ operation: "createSource", kind: "Source", resource_id: source, resource_name: "recorded" });
  });

  test("contains no value that a request sent", async () => {
    const { rows } = await sql`select * from audit_log`.execute(api.database.db);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test("filters by kind, actor, resource and time", async () => {
    const at = Date.now() + 3_600_000;
    expect((await mine("kind=Source")).map(({ resource_id }) => resource_id)).toEqual([source]);
    expect((await mine(`resource_id=${account}`)).map(({ kind }) => kind)).toEqual(["Account"]);
    expect(await mine(`actor=${ada.id}`)).toHaveLength(2);
    expect(await mine(`actor=${bob.id}`)).toEqual([]);
    expect(await mine(`since=${at}`)).toEqual([]);
    expect((await api.ask("GET", "/v1/audit_log?since=yesterday")).status).toBe(422);
  });

  test("filters by action, part of the name, name of the key, outcome and the end of the time range", async () => {
    expect((await mine("action=create&name=ECORD")).map(({ resource_name }) => resource_name)).toEqual(["recorded"]);
    expect(await mine("name=%25")).toEqual([]);
    expect(await mine("action=delete")).toEqual([]);
    expect(await mine("actor=test")).toHaveLength(2);
    expect(await mine("outcome=ok")).toHaveLength(2);
    expect(await mine("outcome=failed")).toEqual([]);
    const setError = (error: string | null) =>
      sql`update audit_log set error = ${error} where resource_id = ${account}`.execute(api.database.db);
    await setError("hook_failed");
    expect((await mine("outcome=failed")).map(({ resource_id }) => resource_id)).toEqual([account]);
    expect((await mine("outcome=ok")).map(({ resource_id }) => resource_id)).toEqual([source]);
    await setError(null);
    const [newest, oldest] = await mine();
    expect(await mine(`until=${(oldest?.at ?? 0) * 1_000 - 1}`)).toEqual([]);
    expect(await mine(`until=${((newest?.at ?? 0) + 1) * 1_000}`)).toHaveLength(2);
  });

  test.each([
    ["outcome=maybe", "it must be ok or failed"],
    ["until=tomorrow", "it must be a time in epoch milliseconds"],
    ["since=1764000000000&until=1763000000000", "swap them"],
    ["since=1764000000", "looks like seconds"],
    [`name=${"x".repeat(256)}`, "it must have at most 255 characters"],
    ["actor=%00", "it must not contain U+0000"],
  ])("refuses the filter %s", async (query, message) => {
    for (const [path, key] of [
      ["/v1/audit_log", keys.ada],
      ["/admin/v1/audit_log", adminToken],
    ] as const) {
      const { status, body } = await api.ask("GET", `${path}?${query}`, { key });
      expect([status, body.error]).toEqual([422, expect.stringContaining(message)]);
    }
  });

  test("of all owners is for admins of the installation", async () => {
    const all = (query: string) => api.ask("GET", `/admin/v1/audit_log?${query}`, { key: adminToken });
    expect(entries(await all("")).map(({ owner_id }) => owner_id)).toEqual([acme.id, ada.id, ada.id]);
    expect(entries(await all(`owner_id=${acme.id}`)).map(({ resource_id }) => resource_id)).toEqual([ownedByAcme]);
    expect(entries(await all("owner_id=u_none"))).toEqual([]);
    const first = await all("limit=1&kind=Source");
    expect(entries(first)).toMatchObject([{ resource_id: source }]);
    expect((await all(`owner_id=${acme.id}&after=${first.body.page_info.end_cursor}`)).status).toBe(422);
    for (const key of [keys.ada, keys.bob, null])
      expect([key, (await api.ask("GET", "/admin/v1/audit_log", { key })).status]).toEqual([key, 401]);
  });

  test("has pages, whose cursors belong to one list", async () => {
    const first = await api.ask("GET", "/v1/audit_log?limit=1");
    const after = first.body.page_info.end_cursor;
    const second = await api.ask("GET", `/v1/audit_log?limit=1&after=${after}`);
    expect(entries(second).map(({ kind }) => kind)).toEqual(["Source"]);
    expect(first.body.page_info.total_count).toBe(2);
    expect((await api.ask("GET", `/v1/audit_log?after=${after}`, { key: keys.bob })).status).toBe(422);
  });

  test("shows another owner nothing", async () => {
    expect(entries(await api.ask("GET", "/v1/audit_log", { key: keys.bob }))).toEqual([]);
    expect((await ofAcme(keys.bob)).status).toBe(403);
  });

  test("of an organization is for its admins", async () => {
    expect(entries(await ofAcme(keys.ada))).toMatchObject([{ kind: "Webhook", resource_id: ownedByAcme, owner_id: acme.id }]);
    const invited = await api.ask("POST", `/v1/orgs/${acme.id}/members`, { body: { username: "bob" } });
    await api.ask("POST", `/v1/users/me/invitations/${invited.body.data.id}/accept`, { key: keys.bob });
    expect((await ofAcme(keys.bob)).body).toMatchObject({ code: "not_an_admin" });
    expect(entries(await ofAcme(keys.ada))[0]).toMatchObject({ action: "create", kind: "Member", resource_id: bob.id });
  });

  test("records admins, and keys without their text", async () => {
    const created = await api.ask("POST", `/admin/v1/users/${ada.id}/keys`, { key: adminToken, body: { name: "for ada" } });
    const [newest] = await mine("kind=ApiKey");
    expect(newest).toMatchObject({
      action: "create",
      resource_id: created.body.data.id,
      owner_id: ada.id,
      actor: { kind: "admin", key_id: null },
    });
    expect(JSON.stringify(await mine())).not.toContain(created.body.data.key);
  });

  test("has no entry for a request that was refused", async () => {
    const before = await mine("limit=100");
    expect((await api.ask("POST", "/v1/accounts", { body: {} })).status).toBe(422);
    expect((await api.ask("DELETE", "/v1/sources/dc_absent")).status).toBe(404);
    expect(await mine("limit=100")).toEqual(before);
  });

  test("stores the entry with the change: a key without an entry is not created", async () => {
    await sql`alter table audit_log add constraint refused check (kind <> 'ApiKey') not valid`.execute(api.database.db);
    const listed = async () => (await api.ask("GET", "/v1/users/me/keys")).body.data.length;
    const before = await listed();
    expect((await api.ask("POST", "/v1/users/me/keys", { body: { name: "unrecorded" } })).status).toBe(500);
    expect(await listed()).toBe(before);
    await sql`alter table audit_log drop constraint refused`.execute(api.database.db);
  });

  test("does not list changes by kubectl that an earlier version recorded", async () => {
    const before = await mine();
    await sql`
      insert into audit_log (id, at_ms, owner, action, kind, fields, actor)
      values ('al_earlier', 1, ${ada.id}, 'delete', 'Source', '{}', 'kubectl')`.execute(api.database.db);
    expect(await mine()).toEqual(before);
    expect((await api.ask("GET", "/v1/audit_log?after=al_earlier")).status).toBe(422);
  });

  test("keeps entries for its days, then deletes them", async () => {
    await sql`update audit_log set at_ms = at_ms - 91 * 86400000::bigint where kind = 'Source'`.execute(api.database.db);
    await api.history.sweep();
    expect(await mine("kind=Source")).toEqual([]);
    expect(await mine("kind=Account")).toHaveLength(1);
  });
});
