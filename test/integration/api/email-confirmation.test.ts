import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { ada, keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });
const ask = (method: string, path: string, body?: object, key: string = keys.ada): Promise<Answer> =>
  api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
const admin = (method: string, path: string, body: object) => ask(method, `/admin/v1${path}`, body, adminToken);
/** What a replica of the delivery role leaves when it has sent the mail. */
async function linkTo(owner: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(token).digest("hex");
  await sql`
    update email_confirmations set state = 'sent', token_hash = ${hash}, expires_ms = 1e15::bigint where owner = ${owner}`.execute(
    api.database.db,
  );
  return token;
}
const open = (token: string, method = "GET"): Promise<Response> => fetch(`${api.url}/confirm-email?token=${token}`, { method });
const press = (token: string): Promise<Response> =>
  fetch(`${api.url}/confirm-email`, { method: "POST", body: new URLSearchParams({ token }) });

let org = "";
beforeAll(async () => {
  org = (await ask("POST", "/v1/orgs", { name: "Elsewhere", email: "elsewhere@example.com" })).body.data.id;
});
const isConfirmed = async (): Promise<unknown> => (await ask("GET", `/v1/orgs/${org}`)).body.data.email_confirmed;

test("an address that the caller names is not confirmed, and the caller's own is", async () => {
  expect(await isConfirmed()).toBe(false);
  const { data } = (await ask("GET", "/v1/users/me")).body;
  expect(data.email_confirmed).toBe(true);
  expect(data.orgs).toContainEqual(expect.objectContaining({ id: org, email_confirmed: false }));
  expect((await ask("POST", "/v1/orgs", { name: "Own" })).body.data).toMatchObject({ email: ada.email, email_confirmed: true });
  const confirmation = await ask("POST", "/v1/users/me/email_confirmation");
  expect([confirmation.status, confirmation.body.data]).toEqual([202, { email: ada.email, email_confirmed: true }]);
});

test("only admins of an organization have a link sent to its address", async () => {
  expect((await ask("POST", `/v1/orgs/${org}/email_confirmation`, undefined, keys.bob)).status).toBe(403);
  const { status, body } = await ask("POST", `/v1/orgs/${org}/email_confirmation`);
  expect([status, body.data]).toEqual([202, { email: "elsewhere@example.com", email_confirmed: false }]);
});

describe("the page of a link", () => {
  test("confirms nothing when it is opened or previewed, and the address once its button is pressed", async () => {
    const token = await linkTo(org);
    expect((await open(token, "HEAD")).status).toBe(200);
    const page = await open(token);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; form-action 'self'");
    expect(await page.text()).toContain(`<input type="hidden" name="token" value="${token}">`);
    expect(await isConfirmed()).toBe(false);

    const confirmed = await press(token);
    expect([confirmed.status, await confirmed.text()]).toEqual([200, expect.stringContaining("Your address is confirmed")]);
    expect(await isConfirmed()).toBe(true);
    const again = await press(token);
    expect([again.status, again.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    expect(await again.text()).toContain("this link was used before");
  });

  test.each(["", "x", "<script>", "a".repeat(43)])("refuses the token %j", async (token) => {
    const answer = await press(token);
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining("request another one")]);
  });

  test("takes no other method, and no large body", async () => {
    expect((await fetch(`${api.url}/confirm-email`, { method: "PUT" })).status).toBe(405);
    expect((await press("x".repeat(5_000))).status).toBe(400);
  });
});

test("a fourth link in a day is refused with the time after which another is sent", async () => {
  const { id } = (await ask("POST", "/v1/orgs", { name: "Often", email: "often@example.com" })).body.data;
  for (let n = 0; n < 3; n++) expect((await ask("POST", `/v1/orgs/${id}/email_confirmation`)).status).toBe(202);
  const { status, body, headers } = await ask("POST", `/v1/orgs/${id}/email_confirmation`);
  expect([status, body.code, Number(headers.get("retry-after")) > 0]).toEqual([429, "too_many_confirmations", true]);
});

test("an admin of the installation creates owners with an address that is confirmed elsewhere, or not", async () => {
  const made = async (path: string, body: object) => (await admin("POST", path, body)).body.data;
  expect(await made("/users", { username: "new", email: "new@example.com" })).toMatchObject({ email_confirmed: false });
  expect(await made("/users", { username: "known", email: "known@example.com", email_confirmed: true })).toMatchObject({
    email_confirmed: true,
  });
  expect(await made("/orgs", { name: "x", orgname: "x", email: "x@example.com", email_confirmed: true })).toMatchObject({
    email_confirmed: true,
  });
});

test("an invitation by address is shown to a user whose address is confirmed, because it may be that of another person", async () => {
  const { id } = (await admin("POST", "/users", { username: "eve", email: "invited@example.com" })).body.data;
  const { key } = (await admin("POST", `/users/${id}/keys`, { name: "k" })).body.data;
  await ask("POST", `/v1/orgs/${org}/members`, { email: "Invited@example.com" });
  const invitations = async () => (await ask("GET", "/v1/users/me/invitations", undefined, key)).body.data;
  expect(await invitations()).toEqual([]);
  expect((await ask("POST", "/v1/users/me/email_confirmation", undefined, key)).status).toBe(202);
  expect((await press(await linkTo(id))).status).toBe(200);
  expect(await invitations()).toMatchObject([{ org_id: org, email: "invited@example.com" }]);
});
