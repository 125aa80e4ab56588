import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MailBudget, type MailLimits } from "../../../delivery/mail/mail-budget.ts";
import { createOwnerMailer } from "../../../delivery/mail/owner-mailer.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { recipientOf } from "../../../platform/postgres/mail/error-mails.ts";
import { createMailCounts } from "../../../platform/postgres/mail/mail-counts.ts";
import { refusal, startMailServer, type MailServer } from "../../support/mail-server.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "../postgres/support.ts";
import { dayMs, failedRun, mailerOf, mailRows, startSender } from "./mail-world.ts";
import { until } from "../../support/until.ts";

/** Limits of mails, with a real Postgres, as the user of the role, and a real SMTP server. */
const postgres = withMigratedPostgres();
const database = withDatabase("delivery", postgres);
const many: MailLimits = { perOwner: 1_000, perAddress: 1_000, inAll: 1_000 };
const noon = Date.UTC(2027, 0, 15, 12);
let server: MailServer;
let now = noon;

beforeAll(async () => {
  await postgres.client.query(
    `insert into users (id, username, email, email_confirmed_at)
     values ('u_ada', 'ada', 'ada@example.com', now()), ('u_bob', 'bob', 'bob@example.com', now())`,
  );
  await postgres.client.query(
    "insert into organizations (id, name, orgname, email, email_confirmed_at) values ('o_acme', 'Acme', 'acme', 'ADA@example.com', now())",
  );
});
beforeEach(async () => {
  await postgres.client.query("delete from mail_counts");
  await postgres.client.query("delete from error_mails");
  server = await startMailServer();
  now = noon;
});
afterEach(() => server.stop());

const clock = { now: () => now };

/** `$.send.email` in a replica of the delivery role. */
function replica(limits: Partial<MailLimits>, through: Database = database) {
  const budget = new MailBudget(createMailCounts(through, clock), { ...many, ...limits });
  const mailer = createOwnerMailer({ mailer: mailerOf(server), recipientOf: (owner) => recipientOf(through, owner), budget });
  let sent = 0;
  return (owner: string) => mailer.sendTo(owner, { id: `r_1.s${sent++}`, subject: "Hello", text: "Ada" });
}

describe("mails beyond a limit of a day", () => {
  test("to an owner are refused, by all replicas together, with the limit and its end", async () => {
    const other = createDatabase({ url: postgres.urlOf("delivery") });
    const [one, two] = [replica({ perOwner: 5 }), replica({ perOwner: 5 }, other)];
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : two)("u_ada")));
    await other.close();
    expect(results.filter(({ outcome }) => outcome === "sent")).toHaveLength(5);
    expect(results.find(({ outcome }) => outcome === "limited")).toEqual({
      outcome: "limited",
      reason: "the limit of 5 mails a day to u_ada is used up until 2027-01-16T00:00:00.000Z: send it again then",
      waitMs: dayMs / 2,
    });
    expect(server.mails).toHaveLength(5);
    // Others have their own, and a restart forgets nothing.
    expect(await replica({ perOwner: 5 })("u_bob")).toEqual({ outcome: "sent" });
    expect(await replica({ perOwner: 5 })("u_ada")).toMatchObject({ outcome: "limited" });
    now += dayMs / 2;
    expect(await one("u_ada")).toEqual({ outcome: "sent" });
    const { rows } = await postgres.client.query("select distinct day_ms from mail_counts");
    expect(rows).toEqual([{ day_ms: String(noon + dayMs / 2) }]);
  });

  test("to an address are refused, whichever owner they are for", async () => {
    const send = replica({ perAddress: 3 });
    for (const owner of ["u_ada", "o_acme", "u_ada"]) expect(await send(owner)).toEqual({ outcome: "sent" });
    const refused = await send("o_acme");
    expect(refused).toMatchObject({ outcome: "limited", reason: expect.stringContaining("3 mails a day to this address") });
    expect(await send("u_bob")).toEqual({ outcome: "sent" });
  });

  test("of the installation are refused", async () => {
    const send = replica({ inAll: 2 });
    for (const owner of ["u_ada", "u_bob"]) expect(await send(owner)).toEqual({ outcome: "sent" });
    expect(await send("o_acme")).toMatchObject({
      outcome: "limited",
      reason: expect.stringContaining("2 mails a day of this installation"),
    });
  });

  test("about errors count too, and wait until the limit ends", async () => {
    const send = replica({ perOwner: 2 });
    for (let n = 0; n < 2; n++) expect(await send("u_ada")).toEqual({ outcome: "sent" });
    const history = createHistory(database, { mailsErrors: true });
    await history.recordCommits("RUNS", [{ seq: 1, commit: failedRun({ workflow: "p_shop", owner: "u_ada", run: "r_shop" }) }]);
    const sender = startSender(database, server, { clock, limits: { ...many, perOwner: 2 } });
    await until(async () => (await mailRows(postgres.client))[0]?.reason?.includes("2 mails a day to u_ada") === true, "it waits");
    expect(server.mails).toHaveLength(2);
    now += dayMs / 2;
    await until(() => server.mails.length === 3, "it is sent the next day");
    await sender.stop();
  });
});

test("a mail that the server does not take now is not counted", async () => {
  const send = replica({ perOwner: 1 });
  server.hooks.recipient = () => {
    throw refusal(450, "greylisted");
  };
  for (let n = 0; n < 3; n++) expect(await send("u_ada")).toMatchObject({ outcome: "retry" });
  delete server.hooks.recipient;
  expect(await send("u_ada")).toEqual({ outcome: "sent" });
  expect(await send("u_ada")).toMatchObject({ outcome: "limited" });
});
