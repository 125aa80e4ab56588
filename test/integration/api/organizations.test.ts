import { beforeAll, describe, expect, test } from "vitest";
import { releaseWebhook } from "./fake-operator.ts";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";

/** Organizations that users create and manage without the admin token. */
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });

const ask = (method: string, path: string, body?: object, key: string = keys.ada): Promise<Answer> =>
  api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
const create = async (body: object, key?: string) => (await ask("POST", "/v1/orgs", body, key)).body.data;

describe("POST /orgs", () => {
  test("creates an organization with the caller as admin, which /users/me lists", async () => {
    const { status, body } = await ask("POST", "/v1/orgs", { name: "New Ones", orgname: "new-ones", email: "new@example.com" });
    const made = { id: expect.stringMatching(/^o_[0-9a-z]{12}$/), name: "New Ones", orgname: "new-ones", email: "new@example.com" };
    expect([status, body.data]).toEqual([200, made]);
    const { id } = body.data;
    expect((await ask("GET", `/v1/orgs/${id}`)).body.data).toEqual(body.data);
    expect((await ask("GET", "/v1/users/me")).body.data.orgs).toContainEqual(body.data);
    expect((await ask("GET", `/v1/orgs/${id}/members`)).body.data).toEqual([{ user_id: ada.id, username: "ada", role: "admin" }]);
    const source = await ask("POST", `/v1/sources?org_id=${id}`, { component_code: "name: First" });
    expect(source.body.data.owner_id).toBe(id);
    expect((await ask("GET", `/v1/orgs/${id}/sources`, undefined, keys.bob)).status).toBe(403);
  });

  test("derives orgname and email if only a name is given", async () => {
    const [one, other] = [await create({ name: "Größte & Co." }), await create({ name: "Größte & Co.", orgname: "", email: null })];
    expect(one).toMatchObject({ orgname: "grosste-co", email: ada.email });
    expect(other.orgname).toMatch(/^grosste-co-[0-9a-z]{6}$/);
  });

  test.each([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "x", orgname: "no blanks" }, "orgname"],
    [{ name: "x", email: "no address" }, "email"],
  ])("refuses %j", async (body, field) => {
    const answer = await ask("POST", "/v1/orgs", body);
    expect([answer.status, answer.body.error]).toEqual([422, expect.stringContaining(field)]);
  });

  test("refuses an orgname in use", async () => {
    const { status, body } = await ask("POST", "/v1/orgs", { name: "x", orgname: acme.orgname });
    expect([status, body.code]).toEqual([409, "orgname_taken"]);
  });
});

describe("the limit of the plan", () => {
  let limited: { id: string; key: string };

  beforeAll(async () => {
    const admin = async (method: string, path: string, body: object) => (await ask(method, `/admin/v1${path}`, body, adminToken)).body.data;
    const { id } = await admin("POST", "/users", { username: "limited", email: "limited@example.com" });
    await admin("PUT", "/plans/two", { form: "free", daily_invocations_quota: 5, max_organizations: 2 });
    await admin("PUT", `/users/${id}/plan`, { plan: "two" });
    limited = { id, key: (await admin("POST", `/users/${id}/keys`, { name: "k" })).key };
  });

  test("holds for concurrent requests, and each organization gets the plan of its creator", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => ask("POST", "/v1/orgs", { name: `Limited ${n}` }, limited.key)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe("too_many_organizations");
    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.id as string);
    for (const id of made) expect(await api.accounts.planOf(id)).toMatchObject({ name: "two", dailyInvocations: 5 });
    expect((await ask("DELETE", `/v1/orgs/${made[0]}`, undefined, limited.key)).status).toBe(204);
    expect((await ask("POST", "/v1/orgs", { name: "Instead" }, limited.key)).status).toBe(200);
  });
});

describe("POST /orgs/{id}/members", () => {
  let id = "";
  beforeAll(async () => {
    id = (await create({ name: "Inviting" })).id;
  });
  const add = (body: object, key?: string) => ask("POST", `/v1/orgs/${id}/members`, body, key);
  const asMember = { user_id: bob.id, username: "bob", role: "member" };

  test.each([
    ["username", { username: "bob" }],
    ["email address, in any case", { email: "BOB@example.com" }],
    ["id", { user_id: bob.id, username: null }],
  ])("adds a user by %s, who can leave again", async (_, body) => {
    const { status, body: answer } = await add(body);
    expect([status, answer.data]).toEqual([200, asMember]);
    expect((await ask("GET", `/v1/orgs/${id}/sources`, undefined, keys.bob)).status).toBe(200);
    expect((await ask("DELETE", `/v1/orgs/${id}/members/${bob.id}`, undefined, keys.bob)).status).toBe(204);
    expect((await ask("GET", `/v1/orgs/${id}/sources`, undefined, keys.bob)).status).toBe(403);
  });

  test("keeps the role of an existing member unless another is given", async () => {
    await add({ username: "bob", role: "admin" });
    expect((await add({ username: "bob" })).body.data.role).toBe("admin");
    expect((await add({ username: "bob", role: "member" })).body.data.role).toBe("member");
    expect((await add({ username: "ada", role: "member" })).body.code).toBe("last_admin");
    expect((await add({ username: "ada" }, keys.bob)).body.code).toBe("not_an_admin");
  });

  test.each([[{}], [{ username: "bob", email: "bob@example.com" }], [{ username: "bob", role: "owner" }], [{ username: "" }]])(
    "refuses %j",
    async (body) => {
      expect((await add(body)).status).toBe(422);
    },
  );

  test("does not show the email address of a member", async () => {
    expect((await add({ username: "bob" })).text).not.toContain(bob.email);
    expect((await ask("GET", `/v1/orgs/${id}/members`)).text).not.toContain(bob.email);
  });

  test("answers every unknown user with the same 404, and with 429 after 20 of them", async () => {
    const answers: Answer[] = [];
    for (const body of [{ username: "unknown" }, { email: "unknown@example.com" }, { user_id: "u_unknown" }, { user_id: "unknown" }])
      answers.push(await add(body));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    for (let n = 4; n < 20; n++) await add({ username: `unknown${n}` });
    const { status, body, headers } = await add({ username: "bob" });
    expect([status, body.code, Number(headers.get("retry-after")) > 0]).toEqual([429, "too_many_failures", true]);
    // Other callers, and PUT by id, are not limited.
    expect((await ask("PUT", `/v1/orgs/${id}/members/${bob.id}`, { role: "admin" })).status).toBe(200);
    expect((await add({ username: "ada" }, keys.bob)).status).toBe(200);
  });
});

describe("DELETE /orgs/{id}", () => {
  test("lets an admin delete an organization that owns nothing and has no other member", async () => {
    const { id } = await create({ name: "Ending" });
    const path = `/v1/orgs/${id}`;
    await ask("POST", `${path}/members`, { user_id: bob.id, role: "member" }, keys.ada);
    await api.accounts.putMember(bob.id, id, "member");
    const webhook = (await ask("POST", `/v1/webhooks?url=https://ending.test&org_id=${id}`)).body.data;
    expect((await ask("DELETE", path, undefined, keys.bob)).body.code).toBe("not_an_admin");
    expect((await ask("DELETE", path)).body).toMatchObject({ code: "organization_owns_resources", details: { kinds: ["Webhook"] } });
    await ask("DELETE", `/v1/webhooks/${webhook.id}`);
    await releaseWebhook(api.store, webhook.id);
    expect((await ask("DELETE", path)).body).toMatchObject({ code: "organization_has_members", details: { members: 1 } });
    await ask("DELETE", `${path}/members/${bob.id}`);
    expect((await ask("DELETE", path)).status).toBe(204);
    expect((await ask("GET", path)).status).toBe(404);
    expect((await ask("GET", "/v1/users/me")).text).not.toContain(id);
  });

  test("refuses other users", async () => {
    const { id } = await create({ name: "Staying" });
    expect((await ask("DELETE", `/v1/orgs/${id}`, undefined, keys.bob)).status).toBe(403);
    expect((await ask("DELETE", "/v1/orgs/o_none")).status).toBe(404);
  });
});
