import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { reconnectOccurrence } from "../../../domain/mail/error-occurrence.ts";
import { createReconnectMails } from "../../../platform/postgres/mail/reconnect-mails.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { startMailServer, type MailServer } from "../../support/mail-server.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { withDatabase } from "../postgres/support.ts";
import { mailRows, startSender } from "./mail-world.ts";

/** Mails about accounts that must be connected again: the operator requests them as its own user, delivery sends them as its. */
const postgres = withMigratedPostgres();
const operator = createRequests();
const delivery = withDatabase("delivery", postgres);
let server: MailServer;
let sender: { stop(): Promise<void> };

function createRequests() {
  const database = withDatabase("operator", postgres);
  return {
    request: (...given: Parameters<ReturnType<typeof createReconnectMails>["request"]>) => createReconnectMails(database).request(...given),
  };
}

beforeAll(async () => {
  await postgres.client.query(
    `insert into users (id, username, email, email_confirmed_at, error_mails)
     values ('u_ada', 'ada', 'ada@example.com', now(), true), ('u_quiet', 'quiet', 'q@example.com', now(), false), ('u_new', 'new', 'n@example.com', null, true)`,
  );
  await postgres.client.query(
    "insert into organizations (id, name, orgname, email, email_confirmed_at) values ('o_acme', 'Acme', 'acme', 'ops@acme.example', now())",
  );
});
beforeEach(async () => {
  await postgres.client.query("delete from error_mails");
  server = await startMailServer();
  sender = startSender(delivery, server);
});
afterEach(async () => {
  await sender.stop();
  await server.stop();
});

const account = (id: string, owner = "u_ada", why = "the token endpoint refused the refresh token (invalid_grant)") =>
  reconnectOccurrence({ id, owner, name: "Team", at: Date.UTC(2026, 10, 29), why });
const noRowsAreDue = () =>
  until(async () => (await mailRows(postgres.client)).every(({ occurrences }) => occurrences === "0"), "all are sent");

test("sends the owner one mail for each connection that has ended, however often it is requested", async () => {
  for (let pass = 0; pass < 5; pass++) await operator.request(account("apn_1", "u_ada", `reason ${pass}`), "2026-11-21T12:00:00Z");
  await operator.request(account("apn_1"), "2026-11-22T12:00:00Z");
  await until(() => server.mails.length >= 2, "two mails");
  await operator.request(account("apn_1"), "2026-11-22T12:00:00Z"); // Again after the mail was sent.
  await noRowsAreDue();
  expect(server.mails.map(({ to }) => to)).toEqual([["ada@example.com"], ["ada@example.com"]]);
  expect(server.mails[0]?.headers["subject"]).toBe("[Headwater] Team: needs_reconnect: reason 0");
});

test("links to where the account is connected again, within its organization", async () => {
  await operator.request(account("apn_2", "o_acme"), undefined);
  await until(() => server.mails.length > 0, "the mail");
  const [mail] = server.mails;
  expect(mail?.to).toEqual(["ops@acme.example"]);
  expect(mail?.text).toContain("This account must be connected again.");
  expect(mail?.text).toContain("Account: Team (apn_2)\n");
  expect(mail?.text).toContain("Connect: https://hw.example/accounts?org=o_acme&reconnect=apn_2\n");
  expect(mail?.text).toContain('send {"error_mails": false} to PUT /v1/orgs/o_acme.');
});

test("sends none to owners who want no mails, or have no confirmed address", async () => {
  for (const owner of ["u_quiet", "u_new", "u_gone"]) await operator.request(account(`apn_of_${owner}`, owner), undefined);
  await until(async () => (await mailRows(postgres.client)).length === 0, "the requests are deleted");
  expect(server.mails).toEqual([]);
});

test("deletes requests that no mail server took within a week", async () => {
  await sender.stop();
  await operator.request(account("apn_3"), undefined);
  await operator.request({ ...account("apn_4"), at: Date.now() }, undefined);
  await postgres.client.query("update error_mails set last_ms = 0 where emitter = 'apn_3'");
  await createHistory(delivery, {}).sweep();
  expect((await mailRows(postgres.client)).map(({ emitter }) => emitter)).toEqual(["apn_4"]);
});
