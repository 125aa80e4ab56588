import { describe, expect, test } from "vitest";
import { createAccounts } from "../../platform/postgres/accounts.ts";
import { withDatabase } from "./postgres-support.ts";

const accounts = createAccounts(withDatabase());

const ada = { id: "u_ada", username: "ada", email: "ada@example.com" };
const key = { hash: "a".repeat(64), prefix: "hw_abc", name: "seeded" };
const acme = { id: "o_acme", name: "Acme", orgname: "acme", email: "acme@example.com" };

describe("accounts", () => {
  test("a seeded user is found by the key, however often it is seeded", async () => {
    await accounts.seedUser(ada, key);
    await accounts.seedUser({ ...ada, email: "ada@new.example.com" }, key);
    expect(await accounts.findUserByKeyHash(key.hash)).toEqual({ ...ada, email: "ada@new.example.com" });
    expect(await accounts.findUserByKeyHash("b".repeat(64))).toBeUndefined();
    expect(await accounts.findUser(ada.id)).toMatchObject({ username: "ada" });
  });

  test("use of a key is noted, at most once a minute", async () => {
    await accounts.seedUser(ada, key);
    await accounts.findUserByKeyHash(key.hash);
    const used = (await accounts.listKeys(ada.id))[0]?.lastUsedAt;
    expect(used).toEqual(expect.any(Number));
    await accounts.findUserByKeyHash(key.hash);
    expect((await accounts.listKeys(ada.id))[0]?.lastUsedAt).toBe(used);
  });

  test("a revoked key finds nobody and cannot be revoked by others", async () => {
    await accounts.seedUser(ada, key);
    await accounts.createUser({ id: "u_eve", username: "eve", email: "eve@example.com" });
    const second = { hash: "c".repeat(64), prefix: "hw_c", name: "second" };
    await accounts.createKey(ada.id, second);
    await expect(accounts.revokeKey("u_eve", second.hash)).rejects.toMatchObject({ status: 404 });
    await accounts.revokeKey(ada.id, second.hash);
    expect(await accounts.findUserByKeyHash(second.hash)).toBeUndefined();
    expect((await accounts.listKeys(ada.id)).map(({ name }) => name)).toEqual(["seeded"]);
    await accounts.seedUser(ada, second);
    expect(await accounts.findUserByKeyHash(second.hash)).toBeUndefined();
  });

  test("organizations have members", async () => {
    await accounts.seedUser(ada, key);
    await accounts.createUser({ id: "u_bob", username: "bob", email: "bob@example.com" });
    await accounts.createOrganization(acme, [ada.id]);
    expect(await accounts.organizationsOf(ada.id)).toEqual([acme]);
    expect(await accounts.findOrganization(acme.id)).toEqual(acme);
    expect([await accounts.isMember(ada.id, acme.id), await accounts.isMember("u_bob", acme.id)]).toEqual([true, false]);
    await accounts.addMember("u_bob", acme.id);
    await accounts.addMember("u_bob", acme.id);
    expect(await accounts.isMember("u_bob", acme.id)).toBe(true);
    await accounts.removeMember("u_bob", acme.id);
    expect(await accounts.organizationsOf("u_bob")).toEqual([]);
  });

  test("what is taken is a conflict that says what, and what is missing is not found", async () => {
    await accounts.seedUser(ada, key);
    await expect(accounts.createUser({ id: "u_2", username: "ada", email: "x@example.com" })).rejects.toMatchObject({
      status: 409,
      message: "the username is taken",
    });
    await expect(accounts.createOrganization({ ...acme, id: "o_2", orgname: "two" }, ["u_none"])).rejects.toMatchObject({ status: 404 });
    expect(await accounts.findOrganization("o_2")).toBeUndefined();
    await expect(accounts.addMember("u_none", acme.id)).rejects.toMatchObject({ status: 404 });
  });
});
