import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../domain/clock.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { createErrorMails } from "../../../platform/postgres/mail/error-mails.ts";
import { refusal, startMailServer, type MailServer } from "../../support/mail-server.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "../postgres/support.ts";
import { dayMs, failedRun, failedSourceRun, mailRows, startSender, type SenderOptions } from "./mail-world.ts";
import { until } from "../../support/until.ts";

/** The specification's Events rule 6, with a real Postgres, as the user of the role, and a real SMTP server. */
const postgres = withMigratedPostgres();
const database = withDatabase("delivery", postgres);
const history = createHistory(database, { mailsErrors: true });

let server: MailServer;
let senders: { stop(): Promise<void> }[] = [];
let names = 0;
let seq = 0;
const newName = (prefix: string): string => `${prefix}${++names}`;

beforeAll(async () => {
  await postgres.client.query(
    `insert into users (id, username, email, email_confirmed_at)
     values ('u_ada', 'ada', 'ada@example.com', now()), ('u_quiet', 'quiet', 'q@example.com', now())`,
  );
  await postgres.client.query("update users set error_mails = false where id = 'u_quiet'");
  await postgres.client.query(
    "insert into organizations (id, name, orgname, email, email_confirmed_at) values ('o_acme', 'Acme', 'acme', 'ops@acme.example', now())",
  );
});
beforeEach(async () => {
  await postgres.client.query("delete from error_mails");
  server = await startMailServer();
});
afterEach(async () => {
  await Promise.all(senders.map((sender) => sender.stop()));
  senders = [];
  await server.stop();
});

function start(options?: SenderOptions) {
  const sender = startSender(database, server, options);
  senders.push(sender);
  return sender;
}

const record = async (commits: readonly Commit[]): Promise<void> => {
  const stream = "RUNS";
  await history.recordCommits(
    stream,
    commits.map((commit) => ({ seq: ++seq, commit })),
  );
};

/** Failing runs of a new workflow. */
function newWorkflow(owner = "u_ada") {
  const workflow = newName("p_");
  let runs = 0;
  const of = () => ({ workflow, owner, run: `r_${workflow}_${++runs}` });
  return {
    workflow,
    fail: (...given: Parameters<typeof failedRun> extends [unknown, ...infer Rest] ? Rest : never) => failedRun(of(), ...given),
  };
}

const received = (count: number): Promise<void> => until(() => server.mails.length >= count, `${count} mails, not ${server.mails.length}`);

/**
 * Waits until everything that is due has been mailed: a last error arrives after it, and no mail is on its way but those of senders that
 * were killed.
 */
async function settled({ clock, killed = 0 }: { readonly clock?: Clock; readonly killed?: number } = {}): Promise<void> {
  const { workflow, fail } = newWorkflow();
  await record([fail({ message: "the last error" })]);
  await until(() => server.mails.some(({ text }) => text.includes(workflow)), "the last mail");
  const store = createErrorMails(database, clock);
  const sending = async (): Promise<number> => (await mailRows(postgres.client)).filter(({ state }) => state === "sending").length;
  await until(async () => !(await store.hasDue()) && (await sending()) === killed, "no mail on its way");
}
const mailsAbout = ({ workflow }: { readonly workflow: string }) => server.mails.filter(({ text }) => text.includes(`(${workflow})`));

describe("“an email is sent on an unhandled workflow error, at most one per distinct error, per workflow, per 24 hours”", () => {
  test("sends the owner one mail for 100 equal errors, which counts them and links to the first run", async () => {
    const shop = newWorkflow();
    await record(Array.from({ length: 60 }, (_, n) => shop.fail({ message: `order ${n} has no total` })));
    await record(Array.from({ length: 40 }, (_, n) => shop.fail({ message: `order ${n + 60} has no total` })));
    const suppressed: number[] = [];
    start({ metrics: { errorMail: () => undefined, suppressed: (count) => suppressed.push(count) } });
    await settled();
    expect(mailsAbout(shop)).toHaveLength(1);
    const [mail] = mailsAbout(shop);
    expect(mail?.to).toEqual(["ada@example.com"]);
    expect(mail?.headers["subject"]).toBe("[Headwater] Orders: TypeError: order 0 has no total");
    expect(mail?.text).toContain(`Run: https://hw.example/workflows/${shop.workflow}?tab=runs&run=r_${shop.workflow}_1\n`);
    expect(mail?.text).toContain("Step: first (c_");
    expect(mail?.text).toContain("It has happened 100 times");
    expect(suppressed[0]).toBe(99);
  });

  test("sends two mails for two distinct errors: another message, code or step", async () => {
    const shop = newWorkflow();
    start();
    await record([
      shop.fail({ message: "no total" }),
      shop.fail({ message: "no currency" }),
      shop.fail({ message: "no total", code: "E_TOTAL" }),
      shop.fail({ message: "no total" }, { id: "c_other", name: "other" }),
      shop.fail({ message: "no total" }),
    ]);
    await settled();
    expect(mailsAbout(shop)).toHaveLength(4);
  });

  test("sends a mail for each workflow", async () => {
    const [one, other] = [newWorkflow(), newWorkflow()];
    start();
    await record([one.fail(), other.fail()]);
    await settled();
    expect([mailsAbout(one).length, mailsAbout(other).length]).toEqual([1, 1]);
  });

  test("sends no second mail after a restart", async () => {
    const shop = newWorkflow();
    await record([shop.fail()]);
    const before = start();
    await received(1);
    await before.stop();
    await record([shop.fail(), shop.fail()]);
    start();
    await settled();
    expect(mailsAbout(shop)).toHaveLength(1);
  });

  test("counts a commit once that is recorded twice", async () => {
    const shop = newWorkflow();
    const batch = [{ seq: ++seq, commit: shop.fail() }];
    await Promise.all([history.recordCommits("RUNS", batch), history.recordCommits("RUNS", batch)]);
    await history.recordCommits("RUNS", batch);
    expect(await mailRows(postgres.client)).toMatchObject([{ emitter: shop.workflow, occurrences: "1" }]);
  });

  test("sends each mail once with four replicas at a time", async () => {
    const workflows = Array.from({ length: 25 }, () => newWorkflow());
    for (let replica = 0; replica < 4; replica++) start();
    for (const each of workflows) await record([each.fail(), each.fail()]);
    await settled();
    expect(workflows.map((each) => mailsAbout(each).length)).toEqual(workflows.map(() => 1));
  });

  test("sends a digest after 24 hours that says how often the error has happened again, and then counts the next 24 hours", async () => {
    const shop = newWorkflow();
    const clock = { now: () => 1_800_000_000_000 };
    start({ clock });
    await record([shop.fail()]);
    await received(1);
    await record([shop.fail(), shop.fail(), shop.fail()]);
    await settled({ clock });
    expect(mailsAbout(shop)).toHaveLength(1);
    clock.now = () => 1_800_000_000_000 + dayMs - 1;
    await settled({ clock });
    expect(mailsAbout(shop)).toHaveLength(1);
    clock.now = () => 1_800_000_000_000 + dayMs;
    await received(4);
    expect(mailsAbout(shop)[1]?.text).toContain("Since the last mail at 2027-01-15 08:00:00 UTC, it has happened 3 times");
    await record([shop.fail()]);
    await settled({ clock });
    expect(mailsAbout(shop)).toHaveLength(2);
  });

  test("forgets an error that does not happen again within 24 hours, and mails it at once when it does later", async () => {
    const shop = newWorkflow();
    const clock = { now: () => 1_800_000_000_000 };
    start({ clock });
    await record([shop.fail()]);
    await received(1);
    await until(async () => (await mailRows(postgres.client)).every(({ state }) => state === "sent"), "sent");
    clock.now = () => 1_800_000_000_000 + dayMs;
    await until(async () => (await mailRows(postgres.client)).length === 0, "deleted");
    await record([shop.fail()]);
    await received(2);
    expect(mailsAbout(shop)[1]?.text).toContain("A run of this workflow failed");
  });
});

describe("an SMTP server that is away", () => {
  test("gets each mail once, late, and nothing is claimed before", async () => {
    const [shop, bank] = [newWorkflow(), newWorkflow()];
    await server.stop();
    const lines: string[] = [];
    start({ onLog: (line) => lines.push(line) });
    start();
    await record([shop.fail(), bank.fail()]);
    await until(() => lines.length > 0, "a log line");
    expect(lines[0]).toContain(`the SMTP server at 127.0.0.1:${server.port} is unavailable`);
    await record([shop.fail()]);
    expect((await mailRows(postgres.client)).map(({ state, occurrences }) => [state, occurrences])).toEqual([
      ["due", "2"],
      ["due", "1"],
    ]);
    await server.start();
    await settled();
    expect(mailsAbout(shop)).toHaveLength(1);
    expect(mailsAbout(shop)[0]?.text).toContain("It has happened 2 times");
    expect(mailsAbout(bank)).toHaveLength(1);
  });

  test("logs wrong credentials without them", async () => {
    await server.stop();
    server = await startMailServer({ login: { user: "ada", password: "right-password" } });
    const lines: string[] = [];
    start({ login: { user: "ada", password: "wrong-password" }, onLog: (line) => lines.push(line) });
    await record([newWorkflow().fail()]);
    await until(() => lines.length > 0, "a log line");
    expect(lines.join("\n")).toContain("the user name or the password is wrong");
    expect(lines.join("\n")).not.toContain("wrong-password");
  });
});

describe("a refused mail", () => {
  test("is sent later, with what happened in the meantime, if the server refuses it for now", async () => {
    const shop = newWorkflow();
    const clock = { now: () => 1_800_000_000_000 };
    server.hooks.recipient = () => {
      throw refusal(450, "greylisted");
    };
    start({ clock });
    await record([shop.fail()]);
    await until(async () => (await mailRows(postgres.client))[0]?.reason?.includes("greylisted") === true, "a refusal");
    expect(await mailRows(postgres.client)).toMatchObject([{ state: "due", occurrences: "1" }]);
    delete server.hooks.recipient;
    await record([shop.fail()]);
    await settled({ clock });
    expect(mailsAbout(shop)).toHaveLength(0);
    clock.now = () => 1_800_000_000_000 + 60_000;
    await received(2);
    expect(mailsAbout(shop)).toHaveLength(1);
    expect(mailsAbout(shop)[0]?.text).toContain("It has happened 2 times");
    expect(mailsAbout(shop)[0]?.text).toContain(`run=r_${shop.workflow}_1\n`);
  });

  test("is recorded and not repeated if the server refuses it permanently", async () => {
    const shop = newWorkflow();
    let attempts = 0;
    server.hooks.recipient = () => {
      attempts += 1;
      throw refusal(550, "no such mailbox");
    };
    start();
    await record([shop.fail()]);
    await until(async () => (await mailRows(postgres.client))[0]?.state === "refused", "the refusal");
    expect((await mailRows(postgres.client))[0]?.reason).toContain("no such mailbox");
    delete server.hooks.recipient;
    await record([shop.fail()]);
    await settled();
    expect(attempts).toBe(1);
    expect(mailsAbout(shop)).toHaveLength(0);
  });

  test("is given up after twelve refusals", async () => {
    const shop = newWorkflow();
    let now = 1_800_000_000_000;
    let attempts = 0;
    server.hooks.recipient = () => {
      attempts += 1;
      throw refusal(450, "greylisted");
    };
    start({ clock: { now: () => (attempts < 12 ? (now += 600_000) : now) } });
    await record([shop.fail()]);
    await until(async () => (await mailRows(postgres.client))[0]?.state === "refused", "the end");
    expect(attempts).toBe(12);
  });
});

describe("a crash", () => {
  test("between claim and answer sends no second mail: the mail counts as sent", async () => {
    const shop = newWorkflow();
    let handedOver = 0;
    server.hooks.received = () => {
      handedOver += 1;
      return new Promise(() => undefined); // The sender is killed while it waits for the answer.
    };
    const child = fork(join(import.meta.dirname, "sender-process.ts"), [postgres.urlOf("delivery"), String(server.port)]);
    await record([shop.fail()]);
    await until(() => handedOver === 1, "the hand-over");
    expect(await mailRows(postgres.client)).toMatchObject([{ state: "sending" }]);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    delete server.hooks.received;
    await record([shop.fail()]);
    start();
    await settled({ killed: 1 });
    expect(handedOver).toBe(1);
    expect(mailsAbout(shop)).toHaveLength(0);
    expect((await mailRows(postgres.client)).find(({ emitter }) => emitter === shop.workflow)).toMatchObject({
      state: "sending",
      occurrences: "1",
    });
  });

  test("leads to a digest after 24 hours if the error happened again", async () => {
    const shop = newWorkflow();
    await record([shop.fail()]);
    await postgres.client.query(
      "update error_mails set state = 'sending', occurrences = 0, mailed_ms = 1800000000000, due_ms = 1800086400000",
    );
    await record([shop.fail()]);
    start({ clock: { now: () => 1_800_086_400_000 } });
    await received(1);
    expect(mailsAbout(shop)[0]?.text).toContain("it has happened once");
  });

  test("of the server after the hand-over sends no second mail", async () => {
    const shop = newWorkflow();
    server.hooks.received = () => {
      delete server.hooks.received;
      server.cut();
      return new Promise(() => undefined);
    };
    const outcomes: string[] = [];
    start({ metrics: { errorMail: (outcome) => outcomes.push(outcome), suppressed: () => undefined } });
    await record([shop.fail()]);
    await until(() => outcomes.length > 0, "an outcome");
    await settled({ killed: 1 });
    expect(outcomes[0]).toBe("unknown");
    expect(mailsAbout(shop)).toHaveLength(0);
  });
});

describe("recipients", () => {
  test("are the organization's address for its workflows", async () => {
    const shop = newWorkflow("o_acme");
    start();
    await record([shop.fail()]);
    await settled();
    expect(mailsAbout(shop).map(({ to }) => to)).toEqual([["ops@acme.example"]]);
    expect(mailsAbout(shop)[0]?.text).toContain("PUT /v1/orgs/o_acme");
  });

  test("are not users who opted out, nor owners that do not exist", async () => {
    const [quiet, gone] = [newWorkflow("u_quiet"), newWorkflow("u_gone")];
    const outcomes: string[] = [];
    start({ metrics: { errorMail: (outcome) => outcomes.push(outcome), suppressed: () => undefined } });
    await record([quiet.fail(), gone.fail()]);
    await settled();
    expect(server.mails).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "unwanted")).toHaveLength(2);
    expect((await mailRows(postgres.client)).map(({ emitter }) => emitter)).not.toContain(quiet.workflow);
  });

  test("are not owners of a workflow whose settings refuse mails", async () => {
    const shop = newWorkflow();
    start();
    await record([shop.fail({}, {}, { errorMails: false })]);
    await settled();
    expect(mailsAbout(shop)).toEqual([]);
  });

  test("get mails about sources, without a step", async () => {
    start();
    await record([failedSourceRun({ source: "dc_feed", owner: "u_ada", run: "r_feed" })]);
    await received(1);
    expect(server.mails[0]?.headers["subject"]).toBe("[Headwater] dc_feed: Error: feed is empty");
    expect(server.mails[0]?.text).toContain("https://hw.example/sources/dc_feed?tab=runs&run=r_feed");
    expect(server.mails[0]?.text).not.toContain("Step:");
  });

  test("get nothing about a step that continues on error, or is retried", async () => {
    const shop = newWorkflow();
    const error = { name: "Error", message: "busy" };
    start();
    const handled = (outcome: "continued" | "retried"): Commit => ({
      ...shop.fail({}, { outcome, error }, { status: outcome === "continued" ? "running" : "suspended" }),
      error: null,
    });
    await record([handled("continued"), handled("retried")]);
    await settled();
    expect(mailsAbout(shop)).toEqual([]);
  });

  test("get nothing, and nothing is stored, without an SMTP server", async () => {
    const shop = newWorkflow();
    await createHistory(database).recordCommits("RUNS", [{ seq: ++seq, commit: shop.fail() }]);
    expect(await mailRows(postgres.client)).toEqual([]);
  });
});

describe("hostile errors", () => {
  test("become text: line breaks, HTML, U+0000, unpaired surrogates and 1 MB", async () => {
    const shop = newWorkflow();
    start();
    await record([
      shop.fail(
        { name: "A\r\nBcc: mallory@example.com", message: `<script>\0\uD800 ${"x".repeat(1_000_000)}` },
        { name: "s\r\n.\r\nQUIT" },
        { name: "Orders\r\nBcc: mallory@example.com\r\n\r\n<b>" },
      ),
    ]);
    await received(1);
    const [mail] = server.mails;
    expect(mail?.to).toEqual(["ada@example.com"]);
    expect(mail?.headers).not.toHaveProperty("bcc");
    expect(mail?.html).toContain("&lt;script&gt;");
    expect(mail?.html).not.toContain("<script");
    expect(mail?.raw.length).toBeLessThan(40_000);
  });

  test("with ever new messages share one mail beyond 50 distinct ones", async () => {
    const flood = newWorkflow();
    const word = (n: number): string => String(n).replace(/\d/gu, (digit) => "abcdefghij".charAt(Number(digit)));
    for (let batch = 0; batch < 4; batch++)
      await record(Array.from({ length: 30 }, (_, n) => flood.fail({ message: `error ${word(batch * 30 + n)}` })));
    await record([flood.fail({ message: `error ${word(0)}` })]);
    start();
    await settled();
    expect(mailsAbout(flood)).toHaveLength(51);
    const overflow = mailsAbout(flood).filter(({ text }) => text.includes("too many different errors"));
    expect(overflow).toHaveLength(1);
    expect(overflow[0]?.text).toContain("It has happened 70 times");
  });

  test("with invalid times or steps of a forged commit do not stop the others", async () => {
    const [forged, shop] = [newWorkflow(), newWorkflow()];
    const commit = forged.fail();
    start();
    await record([
      {
        ...commit,
        run: { ...commit.run, startedAt: -8e15, durationMs: -1e300 },
        workflow: { ...commit.workflow, name: 7, step: undefined },
      } as never,
      shop.fail(),
    ]);
    await settled();
    expect(server.mails.filter(({ text }) => text.includes(`Workflow: ${forged.workflow}`))).toHaveLength(1);
    expect(mailsAbout(shop)).toHaveLength(1);
  });
});
