import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MailBudget } from "../../../delivery/mail/mail-budget.ts";
import { createOwnerMailer } from "../../../delivery/mail/owner-mailer.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { recipientOf } from "../../../platform/postgres/mail/error-mails.ts";
import { createMailCounts } from "../../../platform/postgres/mail/mail-counts.ts";
import { refusal, startMailServer, type MailServer } from "../../support/mail-server.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "../postgres/support.ts";
import { dayMs, failedRun, mailerOf, startSender } from "./mail-world.ts";
import { until } from "../../support/until.ts";

/** Confirmations of addresses, with a real Postgres, as the users of both roles, and a real SMTP server. */
const postgres = withMigratedPostgres();
const database = withDatabase("delivery", postgres);
const accounts = createAccounts(withDatabase("api", postgres));
const ada = { id: "u_ada", username: "ada", email: "ada@example.com" };
const acme = { id: "o_acme", name: "Buy <b>now</b>", orgname: "acme", email: "victim@example.com" };
let server: MailServer;
let sender: { stop(): Promise<void> };
let lines: string[] = [];

beforeEach(async () => {
  await postgres.client.query("delete from memberships");
  for (const table of ["organizations", "users", "mail_counts", "error_mails", "email_confirmations"])
    await postgres.client.query(`delete from ${table}`);
  server = await startMailServer();
  lines = [];
  sender = startSender(database, server, { onLog: (line) => lines.push(line) });
  await accounts.createUser(ada);
  await accounts.createOwnOrganization(acme, ada.id);
});
afterEach(async () => {
  await sender.stop();
  await server.stop();
});

const limits = { perOwner: 100, perAddress: 100, inAll: 100 };
/** `$.send.email` of a workflow of the owner. */
const send = (owner: string) =>
  createOwnerMailer({
    mailer: mailerOf(server),
    recipientOf: (of) => recipientOf(database, of),
    budget: new MailBudget(createMailCounts(database), limits),
  }).sendTo(owner, { id: "r_1.s0", subject: "Hello", text: "Ada" });
const mailed = (count: number) => until(() => server.mails.length === count, `${count} mails, not ${server.mails.length}`);
const tokenIn = (mail: MailServer["mails"][number] | undefined): string =>
  /https:\/\/hw\.example\/confirm-email\?token=([\w-]{43})\s/.exec(mail?.text ?? "")?.[1] ?? expect.fail(`no link in ${mail?.text}`);
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const isConfirmed = async () => (await accounts.findOrganization(acme.id))?.isEmailConfirmed;

test("only the mail with the link goes to an address that is not confirmed, with no text of a user's choice", async () => {
  const history = createHistory(database, { mailsErrors: true });
  await history.recordCommits("RUNS", [{ seq: 1, commit: failedRun({ workflow: "p_spam", owner: acme.id, run: "r_spam" }) }]);
  expect(await send(acme.id)).toEqual({
    outcome: "refused",
    reason:
      "the address of o_acme is not confirmed: have a link mailed there in the console or with POST /v1/orgs/o_acme/email_confirmation, open it, then deliver this again",
  });
  expect(await send(ada.id)).toMatchObject({ outcome: "refused", reason: expect.stringContaining("POST /v1/users/me/email_confirmation") });
  await until(async () => (await postgres.client.query("select from error_mails")).rowCount === 0, "the error is not mailed");
  expect(server.mails).toEqual([]);

  expect(await accounts.requestEmailConfirmation(acme.id, ada.id)).toEqual({ email: acme.email, isEmailConfirmed: false });
  await mailed(1);
  const [mail] = server.mails;
  expect([mail?.to, mail?.headers["subject"]]).toEqual([[acme.email], "[Headwater] Confirm your address"]);
  expect(mail?.text).not.toContain("now");
  const stored = await postgres.client.query<{ row: string }>("select email_confirmations::text as row from email_confirmations");
  expect(stored.rows[0]?.row).not.toContain(tokenIn(mail));
  expect(lines.join("\n")).not.toContain(tokenIn(mail));
});

test("a link confirms its address once, and mails go there then", async () => {
  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await mailed(1);
  const token = hashOf(tokenIn(server.mails[0]));
  expect(await accounts.confirmEmail(hashOf("unknown"))).toBeUndefined();
  expect(await isConfirmed()).toBe(false);
  const both = await Promise.all([accounts.confirmEmail(token), accounts.confirmEmail(token)]);
  expect(both.toSorted()).toEqual([acme.email, undefined]);
  expect(await isConfirmed()).toBe(true);
  expect(await send(acme.id)).toEqual({ outcome: "sent" });
  expect(await accounts.requestEmailConfirmation(acme.id, ada.id)).toEqual({ email: acme.email, isEmailConfirmed: true });
  expect((await postgres.client.query("select from email_confirmations")).rowCount).toBe(0);
});

test("a link ends after 24 hours, with a later one, and when the owner gets another address", async () => {
  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await mailed(1);
  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await mailed(2);
  const [first, second] = server.mails.map((mail) => hashOf(tokenIn(mail)));
  expect(await accounts.confirmEmail(first ?? "")).toBeUndefined();

  const { rows } = await postgres.client.query<{ left: string }>(
    "select expires_ms - (extract(epoch from now()) * 1000)::bigint as left from email_confirmations",
  );
  expect(Number(rows[0]?.left)).toBeGreaterThan(dayMs - 600_000);
  expect(Number(rows[0]?.left)).toBeLessThanOrEqual(dayMs + 1_000);
  await postgres.client.query("update email_confirmations set expires_ms = 1");
  expect(await accounts.confirmEmail(second ?? "")).toBeUndefined();

  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await mailed(3);
  await postgres.client.query("update organizations set email = 'other@example.com'");
  expect(await accounts.confirmEmail(hashOf(tokenIn(server.mails[2])))).toBeUndefined();
  expect(await isConfirmed()).toBe(false);
});

test("three links a day go to an address and ten are requested by a user, and a refused request is not counted", async () => {
  const refused = { code: "too_many_confirmations", retryAfterSeconds: expect.any(Number) };
  for (let n = 0; n < 3; n++) await accounts.requestEmailConfirmation(acme.id, ada.id);
  await expect(accounts.requestEmailConfirmation(acme.id, ada.id)).rejects.toMatchObject(refused);
  const others = Array.from({ length: 8 }, (_, n) => ({ id: `o_${n}`, name: "x", orgname: `x${n}`, email: `x${n}@example.com` }));
  for (const other of others) await accounts.createOwnOrganization(other, ada.id);
  for (const { id } of others.slice(0, 7)) await accounts.requestEmailConfirmation(id, ada.id);
  await expect(accounts.requestEmailConfirmation("o_7", ada.id)).rejects.toMatchObject(refused);
  const { rows } = await postgres.client.query("select mails from mail_counts where scope = 'confirmations by u_ada'");
  expect(rows).toEqual([{ mails: 10 }]);
});

test("a link that the server refuses for now is mailed later, and one that it refuses permanently is not", async () => {
  const reason = async () =>
    (await postgres.client.query<{ state: string; reason: string | null }>("select state, reason from email_confirmations")).rows[0];
  server.hooks.recipient = () => {
    throw refusal(450, "greylisted");
  };
  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await until(async () => (await reason())?.reason?.includes("greylisted") === true, "a refusal");
  expect(await reason()).toMatchObject({ state: "due" });
  server.hooks.recipient = () => {
    throw refusal(550, "no such mailbox");
  };
  await postgres.client.query("update email_confirmations set due_ms = 0");
  await until(async () => (await reason())?.state === "refused", "the permanent refusal");
  delete server.hooks.recipient;
  await accounts.requestEmailConfirmation(acme.id, ada.id);
  await mailed(1);
});

test("the address of an organization is confirmed if it is the confirmed one of its creator, and what the operator sets is", async () => {
  const key = { hash: "a".repeat(64), prefix: "key", name: "k" };
  await accounts.seedUser({ id: "u_op", username: "op", email: "op@example.com" }, key);
  expect((await accounts.findUser("u_op"))?.isEmailConfirmed).toBe(true);
  await accounts.createOwnOrganization({ id: "o_same", name: "x", orgname: "same", email: "OP@example.com" }, "u_op");
  await accounts.createOwnOrganization({ id: "o_other", name: "x", orgname: "other", email: "other@example.com" }, "u_op");
  expect((await accounts.organizationsOf("u_op")).map(({ id, isEmailConfirmed }) => [id, isEmailConfirmed]).toSorted()).toEqual([
    ["o_other", false],
    ["o_same", true],
  ]);
  await accounts.createUser({ id: "u_known", username: "known", email: "known@example.com" }, true);
  expect((await accounts.findUser("u_known"))?.isEmailConfirmed).toBe(true);
});
