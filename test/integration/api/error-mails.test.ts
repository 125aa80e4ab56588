import { expect, test } from "vitest";
import { acme, ada, keys, withApi } from "./support.ts";

const api = withApi();

const put = (path: string, body: object, key: string = keys.ada) => api.ask("PUT", path, { key, body });
const wanted = (table: "users" | "organizations", id: string) =>
  api.database.db.selectFrom(table).select("error_mails").where("id", "=", id).executeTakeFirstOrThrow();

test("a user opts out of mails about errors, and in again", async () => {
  expect(await wanted("users", ada.id)).toEqual({ error_mails: true });
  expect((await put("/v1/users/me", { error_mails: false })).body.data).toEqual({ error_mails: false });
  expect(await wanted("users", ada.id)).toEqual({ error_mails: false });
  await put("/v1/users/me", { error_mails: true });
  expect(await wanted("users", ada.id)).toEqual({ error_mails: true });
});

test("an admin of an organization opts out, and other users cannot", async () => {
  expect((await put(`/v1/orgs/${acme.id}`, { error_mails: false }, keys.bob)).status).toBe(403);
  expect(await wanted("organizations", acme.id)).toEqual({ error_mails: true });
});

test.each([{}, { error_mails: "no" }, { error_mails: null }])("refuses %j, naming the field", async (body) => {
  const answer = await put("/v1/users/me", body);
  expect([answer.status, answer.body.error]).toEqual([422, expect.stringContaining("error_mails")]);
});
