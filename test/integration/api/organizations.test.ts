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
    const named = { name: "New Ones", orgname: "new-ones", email: "new@example.com" };
    const made = { id: expect.stringMatching(/^o_[0-9a-z]{12}$/), ...named, email_confirmed: false };
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
  const invite = (body: object, key?: string) => ask("POST", `/v1/orgs/${id}/members`, body, key);
  const asBob = (method: string, path: string) => ask(method, path, undefined, keys.bob);
  const invited = { id: expect.stringMatching(/^inv_/), org_name: "Inviting", role: "member", created_at: expect.any(Number) };

  test.each([
    ["username", { username: "bob" }],
    ["email address, in any case", { email: "BOB@example.com" }],
    ["id", { user_id: bob.id, username: null }],
  ])("invites a user by %s, who becomes a member by accepting, and can leave again", async (_, body) => {
    const { status, body: answer } = await invite(body);
    expect([status, answer.data]).toEqual([200, expect.objectContaining({ ...invited, org_id: id })]);
    expect((await ask("GET", `/v1/orgs/${id}/members`)).body.data).toHaveLength(1);
    expect((await asBob("GET", `/v1/orgs/${id}/sources`)).status).toBe(403);
    expect((await asBob("GET", "/v1/users/me")).body.data.orgs).not.toContainEqual(expect.objectContaining({ id }));
    expect((await asBob("GET", "/v1/users/me/invitations")).body.data).toEqual([answer.data]);
    const path = `/v1/users/me/invitations/${answer.data.id}/accept`;
    expect((await ask("POST", path)).status).toBe(404);
    expect((await asBob("POST", path)).status).toBe(200);
    expect((await asBob("POST", path)).status).toBe(404);
    expect((await asBob("GET", `/v1/orgs/${id}/sources`)).status).toBe(200);
    expect((await asBob("GET", "/v1/users/me/invitations")).body.data).toEqual([]);
    expect((await asBob("DELETE", `/v1/orgs/${id}/members/${bob.id}`)).status).toBe(204);
    expect((await asBob("GET", `/v1/orgs/${id}/sources`)).status).toBe(403);
  });

  test("answers alike whether such a user exists or not, and shows neither id nor name of one", async () => {
    const shapeOf = ({ text }: Answer, name: string) => text.replaceAll(name, "…").replaceAll(/"inv_\w+"|\d{10}/g, "…");
    const [known, unknown] = [await invite({ email: bob.email }), await invite({ email: "stranger@example.com" })];
    expect(shapeOf(known, bob.email)).toBe(shapeOf(unknown, "stranger@example.com"));
    expect(known.text).not.toContain(bob.id);
    expect(known.text).not.toContain(`"${bob.username}"`);
    const listed = await ask("GET", `/v1/orgs/${id}/invitations`);
    expect(listed.body.data).toHaveLength(2);
    expect(listed.text).not.toContain(bob.id);
    for (const { id: open } of listed.body.data) await ask("DELETE", `/v1/orgs/${id}/invitations/${open}`);
  });

  test("can be declined by the user, and withdrawn by an admin", async () => {
    const declined = (await invite({ username: "bob" })).body.data.id;
    expect((await ask("DELETE", `/v1/users/me/invitations/${declined}`)).status).toBe(404);
    expect((await asBob("DELETE", `/v1/users/me/invitations/${declined}`)).status).toBe(204);
    const withdrawn = (await invite({ username: "bob" })).body.data.id;
    expect((await asBob("DELETE", `/v1/orgs/${id}/invitations/${withdrawn}`)).status).toBe(403);
    expect((await ask("DELETE", `/v1/orgs/${id}/invitations/${withdrawn}`)).status).toBe(204);
    for (const ended of [declined, withdrawn]) expect((await asBob("POST", `/v1/users/me/invitations/${ended}/accept`)).status).toBe(404);
  });

  test("replaces an earlier invitation of the same name, and refuses members and other callers", async () => {
    const [first, second] = [await invite({ username: "bob" }), await invite({ username: "bob", role: "admin" })];
    expect(second.body.data).toMatchObject({ id: first.body.data.id, role: "admin" });
    await asBob("POST", `/v1/users/me/invitations/${second.body.data.id}/accept`);
    expect((await ask("GET", `/v1/orgs/${id}/members`)).body.data).toContainEqual({ user_id: bob.id, username: "bob", role: "admin" });
    expect((await invite({ username: "bob" })).body.code).toBe("already_a_member");
    await ask("PUT", `/v1/orgs/${id}/members/${bob.id}`, { role: "member" });
    expect((await invite({ username: "other" }, keys.bob)).body.code).toBe("not_an_admin");
    await ask("DELETE", `/v1/orgs/${id}/members/${bob.id}`);
  });

  test("has at most 100 open invitations, not counting expired ones", async () => {
    const { id: full } = await create({ name: "Full" });
    const times = { createdAt: Date.now(), expiresAt: Date.now() + 60_000 };
    for (let n = 0; n < 100; n++) {
      const invitee = { field: "username", name: `user${n}` } as const;
      await api.accounts.createInvitation({ id: `inv_full${n}`, organization: full, invitee, role: "member", ...times }, 100);
    }
    const { status, body } = await ask("POST", `/v1/orgs/${full}/members`, { username: "bob" });
    expect([status, body.code]).toEqual([409, "too_many_invitations"]);
    expect((await ask("POST", `/v1/orgs/${full}/members`, { username: "user7" })).status).toBe(200);
    const later = { createdAt: times.expiresAt, expiresAt: times.expiresAt + 1 };
    const invitee = { field: "username", name: "bob" } as const;
    await api.accounts.createInvitation({ id: "inv_fits", organization: full, invitee, role: "member", ...later }, 100);
    expect(await api.accounts.invitationsTo(bob, later.expiresAt, 100)).toEqual([]);
  });

  test.each([[{}], [{ username: "bob", email: "bob@example.com" }], [{ username: "bob", role: "owner" }], [{ username: "" }]])(
    "refuses %j",
    async (body) => {
      expect((await invite(body)).status).toBe(422);
    },
  );
});

describe("PUT /orgs/{id}/members/{user_id}", () => {
  test("changes the role of members, and adds no user", async () => {
    const { id } = await create({ name: "Putting" });
    const put = (user: string, role: string) => ask("PUT", `/v1/orgs/${id}/members/${user}`, { role });
    const answers = [await put(bob.id, "member"), await put("u_unknown", "member")];
    expect(answers.map(({ status, text }) => `${status} ${text}`.replaceAll(/u_\w+/g, "…"))).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining("404")),
    );
    expect((await ask("GET", `/v1/orgs/${id}/members`)).body.data).toHaveLength(1);
    await api.accounts.putMember(bob.id, id, "member");
    expect((await put(bob.id, "admin")).body.data).toEqual({ user_id: bob.id, username: "bob", role: "admin" });
    expect((await ask("GET", `/v1/orgs/${id}/members`)).text).not.toContain(bob.email);
  });
});

describe("DELETE /orgs/{id}", () => {
  test("lets an admin delete an organization that owns nothing and has no other member", async () => {
    const { id } = await create({ name: "Ending" });
    const path = `/v1/orgs/${id}`;
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
