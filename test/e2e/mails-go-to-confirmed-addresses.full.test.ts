import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startMailServer, type MailServer } from "../support/mail-server.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";

const limit = 5;
let directory: TemporaryDirectory;
let server: MailServer;
let headwater: Headwater;
beforeAll(async () => {
  directory = await temporaryDirectory("mails");
  server = await startMailServer();
  const env = {
    HEADWATER_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    HEADWATER_MAIL_FROM: "headwater@example.com",
    HEADWATER_MAILS_PER_OWNER: String(limit),
  };
  headwater = await startHeadwater({ dataDirectory: join(directory.path, "data"), env });
});
afterAll(async () => {
  await headwater.stop();
  await server.stop();
  await directory.remove();
});

interface DeadLetter {
  readonly delivery_id: string;
  readonly cause: string;
}

it("a workflow mails nothing to an address that did not agree, and no more than the limit of a day to one that did", async () => {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { status, body: answer, text } = await headwater.call<{ readonly data: T }>(method, path, body);
    expect(status, text).toBeLessThan(300);
    return answer.data;
  };
  const { id: org } = await call<{ id: string }>("POST", "/orgs", { name: "Elsewhere", email: "victim@example.com" });
  const code = `export default { name: "Mail", type: "action", version: "1.0.0", props: { count: "integer" },
    run({ $ }) { for (let n = 0; n < this.count; n++) $.send.email({ subject: "Hello " + n, html: "<b>Buy</b>" }); } };`;
  const { id: workflow } = await call<{ id: string }>("POST", `/workflows?org_id=${org}`, {
    name: "Mails",
    triggers: [{ type: "http" }],
    steps: [{ name: "mail", component_code: code, props: { count: "{{ steps.trigger.event.count }}" } }],
  });
  const run = (count: number) => call("POST", `/workflows/${workflow}/runs?org_id=${org}`, { event: { count } });
  const deadLetters = () => call<readonly DeadLetter[]>("GET", `/workflows/${workflow}/dead_letters?limit=100`);

  await run(1);
  await until(async () => (await deadLetters()).length === 1, "the mail is a dead letter");
  expect((await deadLetters())[0]?.cause).toContain(`the address of ${org} is not confirmed`);
  expect(server.mails).toEqual([]);

  expect(await call("POST", `/orgs/${org}/email_confirmation`)).toEqual({ email: "victim@example.com", email_confirmed: false });
  await until(() => server.mails.length === 1, "the mail with the link");
  const link = new URL(/http\S+\/confirm-email\?token=\S+/.exec(server.mails[0]?.text ?? "")?.[0] ?? "");
  expect((await fetch(link)).status).toBe(200);
  expect(await call("GET", `/orgs/${org}`)).toMatchObject({ email_confirmed: false });
  const pressed = await fetch(new URL("/confirm-email", link), { method: "POST", body: link.searchParams });
  expect(await pressed.text()).toContain("Your address is confirmed");

  const [{ delivery_id: first } = expect.fail("no dead letter")] = await deadLetters();
  expect((await headwater.call("POST", `/deliveries/${first}/retry`)).status).toBe(202);
  await until(() => server.mails.length === 2, "the mail that waited");
  expect(server.mails[1]).toMatchObject({ to: ["victim@example.com"], html: expect.stringContaining("<b>Buy</b>") });

  // The confirmation and the first mail count too.
  await run(20);
  const isSettled = async () => (await deadLetters()).length === 20 - (limit - 2) && server.mails.length === limit;
  await until(isSettled, "mails up to the limit, and the others are dead letters");
  expect((await deadLetters())[0]?.cause).toMatch(
    new RegExp(`^the limit of ${limit} mails a day to ${org} is used up until 20\\d\\d-\\d\\d-\\d\\dT00:00:00.000Z: send it again then$`),
  );
});
