import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import type { NewApiKey } from "../../../api/owners/ports.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { withDatabase } from "./support.ts";

const database = withDatabase("api");
const accounts = createAccounts(database);

const ada = { id: "u_ada", username: "ada", email: "ada@example.com" };
const bob = { id: "u_bob", username: "bob", email: "bob@example.com" };
const seeded = { hash: "a".repeat(64), prefix: "hw_abc", name: "seeded" };
const acme = { id: "o_acme", name: "Acme", orgname: "acme", email: "acme@example.com" };
const hour = 3_600_000;

const newKey = (letter: string, more: Partial<NewApiKey> = {}): NewApiKey => ({
  id: `pk_${letter}`,
  hash: letter.repeat(64),
  prefix: `hw_${letter}`,
  name: letter,
  scopes: ["read"],
  expiresAt: null,
  ...more,
});

beforeEach(async () => {
  for (const table of ["owner_plans", "memberships", "api_keys", "organizations", "users"] as const)
    await sql`delete from ${sql.table(table)}`.execute(database.db);
  await accounts.seedUser(ada, seeded);
});

describe("users", () => {
  test("a seeded user is found by the key with all rights, also after seeding twice", async () => {
    await accounts.seedUser({ ...ada, email: "ada@new.example.com" }, seeded);
    const found = await accounts.findKey(seeded.hash);
    expect(found).toEqual({
      id: expect.stringMatching(/^pk_[0-9a-f]{12}$/),
      name: "seeded",
      scopes: ["read", "write"],
      expiresAt: null,
      user: { ...ada, email: "ada@new.example.com" },
    });
    expect(await accounts.listKeys(ada.id)).toHaveLength(1);
    expect(await accounts.findKey("b".repeat(64))).toBeUndefined();
    expect(await accounts.findUser(ada.id)).toMatchObject({ username: "ada", plan: "default", createdAt: expect.any(Number) });
  });

  test("are listed newest first, in pages without gaps", async () => {
    for (const letter of ["b", "c", "d"])
      await accounts.createUser({ id: `u_${letter}`, username: letter, email: `${letter}@example.com` });
    const idsOf = async (...[page]: Parameters<typeof accounts.pageUsers>) => (await accounts.pageUsers(page)).items.map(({ id }) => id);
    const first = await accounts.pageUsers({ limit: 3, cursor: null });
    expect([first.items.map(({ id }) => id), first.total]).toEqual([["u_d", "u_c", "u_b"], 4]);
    expect(await idsOf({ limit: 3, cursor: { side: "after", id: "u_b" } })).toEqual(["u_ada"]);
    expect(await idsOf({ limit: 1, cursor: { side: "before", id: "u_b" } })).toEqual(["u_c"]);
    await expect(idsOf({ limit: 1, cursor: { side: "after", id: "u_none" } })).rejects.toMatchObject({ code: "invalid_cursor" });
  });

  test("are deleted with their keys and memberships", async () => {
    await accounts.createOrganization(acme, [ada.id]);
    await accounts.deleteUser(ada.id);
    expect(await accounts.findKey(seeded.hash)).toBeUndefined();
    expect(await accounts.listMembers(acme.id)).toEqual([]);
    await expect(accounts.deleteUser(ada.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe("keys", () => {
  test("have the given fields, and are listed newest first", async () => {
    const expiresAt = Date.now() + hour;
    const made = await accounts.createKey(ada.id, newKey("b", { expiresAt }), 10);
    expect(made).toMatchObject({ id: "pk_b", prefix: "hw_b", scopes: ["read"], expiresAt, lastUsedAt: null });
    expect(await accounts.findKey("b".repeat(64))).toEqual({ id: "pk_b", name: "b", scopes: ["read"], expiresAt, user: ada });
    expect((await accounts.listKeys(ada.id)).map(({ name }) => name)).toEqual(["b", "seeded"]);
  });

  test("record their use at most once a minute, also for concurrent requests", async () => {
    const usedAt = async () => (await accounts.listKeys(ada.id))[0]?.lastUsedAt;
    expect(await usedAt()).toBeNull();
    await Promise.all(Array.from({ length: 5 }, () => accounts.findKey(seeded.hash)));
    const used = await usedAt();
    expect(used).toEqual(expect.any(Number));
    await accounts.findKey(seeded.hash);
    expect(await usedAt()).toBe(used);
    await sql`update api_keys set last_used_at = now() - interval '61 seconds'`.execute(database.db);
    await accounts.findKey(seeded.hash);
    expect(await usedAt()).toBeGreaterThanOrEqual(used ?? Infinity);
  });

  test("that have expired are found with their end, and their use is not recorded", async () => {
    const expiresAt = Date.now() - hour;
    await accounts.createKey(ada.id, newKey("b", { expiresAt }), 10);
    expect(await accounts.findKey("b".repeat(64))).toMatchObject({ id: "pk_b", expiresAt });
    expect((await accounts.listKeys(ada.id)).find(({ id }) => id === "pk_b")?.lastUsedAt).toBeNull();
  });

  test("that are revoked find no user, and cannot be revoked by other users", async () => {
    await accounts.createUser(bob);
    await accounts.createKey(ada.id, newKey("b"), 10);
    await expect(accounts.revokeKey(bob.id, "pk_b")).rejects.toMatchObject({ status: 404 });
    await accounts.revokeKey(ada.id, "pk_b");
    expect(await accounts.findKey("b".repeat(64))).toBeUndefined();
    expect((await accounts.listKeys(ada.id)).map(({ name }) => name)).toEqual(["seeded"]);
    await accounts.seedUser(ada, { ...seeded, hash: "b".repeat(64) });
    expect(await accounts.findKey("b".repeat(64))).toBeUndefined();
  });

  test("are limited in number, not counting revoked ones", async () => {
    await accounts.createKey(ada.id, newKey("b"), 2);
    await expect(accounts.createKey(ada.id, newKey("c"), 2)).rejects.toMatchObject({ code: "too_many_keys" });
    await accounts.revokeKey(ada.id, "pk_b");
    await accounts.createKey(ada.id, newKey("c"), 2);
    await expect(accounts.createKey("u_none", newKey("d"), 2)).rejects.toMatchObject({ status: 404 });
  });
});

describe("organizations", () => {
  test("have members with a role", async () => {
    await accounts.createUser(bob);
    await accounts.createOrganization(acme, [ada.id]);
    expect(await accounts.organizationsOf(ada.id)).toEqual([{ ...acme, isEmailConfirmed: false }]);
    expect(await accounts.findOrganization(acme.id)).toMatchObject({ ...acme, plan: "default" });
    expect([await accounts.isMember(ada.id, acme.id), await accounts.isMember(bob.id, acme.id)]).toEqual([true, false]);
    await accounts.putMember(bob.id, acme.id, "admin");
    await accounts.putMember(bob.id, acme.id, "member");
    expect(await accounts.listMembers(acme.id)).toEqual([
      { ...ada, role: "admin" },
      { ...bob, role: "member" },
    ]);
    await accounts.removeMember(bob.id, acme.id);
    expect(await accounts.organizationsOf(bob.id)).toEqual([]);
    await expect(accounts.removeMember(bob.id, acme.id)).rejects.toMatchObject({ status: 404 });
  });

  test("are listed newest first", async () => {
    await accounts.createOrganization(acme, []);
    await accounts.createOrganization({ ...acme, id: "o_later", orgname: "later" }, []);
    const { items, total } = await accounts.pageOrganizations({ limit: 1, cursor: null });
    expect([items.map(({ id }) => id), total]).toEqual([["o_later"], 2]);
  });
});

describe("plans", () => {
  test("a user without a plan has the default one, without quotas", async () => {
    expect(await accounts.planOf(ada.id)).toEqual({
      name: "default",
      form: "free",
      dailyInvocations: null,
      dailyComputeMs: null,
      weight: 1,
      maxOrganizations: 20,
    });
  });

  test("are created, assigned, and changed for all their users", async () => {
    const small = { name: "small", form: "free", dailyInvocations: 100, dailyComputeMs: 2 ** 40, weight: 1, maxOrganizations: 20 } as const;
    await accounts.savePlan(small);
    await accounts.choosePlan(ada.id, "small");
    expect(await accounts.planOf(ada.id)).toEqual(small);
    expect(await accounts.findUser(ada.id)).toMatchObject({ plan: "small" });
    await accounts.savePlan({ ...small, form: "paid" });
    expect(await accounts.planOf(ada.id)).toMatchObject({ form: "paid" });
    expect((await accounts.listPlans()).map(({ name }) => name)).toEqual(["default", "small"]);
    await expect(accounts.choosePlan(ada.id, "none")).rejects.toMatchObject({ status: 404, message: "the plan does not exist" });
  });
});

test("report a conflict with the taken name, and NotFound for a missing plan", async () => {
  await expect(accounts.createUser({ id: "u_2", username: "ada", email: "x@example.com" })).rejects.toMatchObject({
    status: 409,
    message: "the username is taken",
  });
  await expect(accounts.createOrganization(acme, ["u_none"])).rejects.toMatchObject({ status: 404 });
  expect(await accounts.findOrganization(acme.id)).toBeUndefined();
  await expect(accounts.putMember(ada.id, acme.id, "member")).rejects.toMatchObject({ status: 404 });
});

test("an older version without ids, scopes and roles still writes keys and memberships", async () => {
  await accounts.createOrganization(acme, []);
  await sql`insert into api_keys (key_hash, user_id, prefix, name) values (${"b".repeat(64)}, ${ada.id}, 'hw_b', 'older')`.execute(
    database.db,
  );
  await sql`insert into memberships (organization_id, user_id) values (${acme.id}, ${ada.id})`.execute(database.db);
  expect(await accounts.findKey("b".repeat(64))).toMatchObject({ scopes: ["read", "write"], expiresAt: null });
  expect(await accounts.listMembers(acme.id)).toMatchObject([{ id: ada.id, role: "member" }]);
});
