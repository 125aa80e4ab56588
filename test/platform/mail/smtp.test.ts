import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { OutgoingMail } from "../../../domain/mail/outgoing-mail.ts";
import { parseSender, parseSmtpUrl, type SmtpAddress } from "../../../platform/mail/smtp-address.ts";
import { createSmtpMailer } from "../../../platform/mail/smtp.ts";
import { refusal, startMailServer, type MailServer, type MailServerOptions } from "../../support/mail-server.ts";
import { steadyPort } from "../../support/steady-port.ts";

const from = { name: "Headwater", address: "headwater@example.com" };
const mail: OutgoingMail = { id: "m_1", to: "ada@example.com", subject: "Hello", text: "One\nTwo", html: "<p>One</p>" };
const password = "p@ss wörd/:";

let opened: MailServer | undefined;
afterEach(() => opened?.stop());

async function world(options: MailServerOptions = {}, given: Partial<SmtpAddress> = {}) {
  const server = await startMailServer(options);
  opened = server;
  const address: SmtpAddress = { host: "127.0.0.1", port: server.port, secure: false, login: options.login, ...given };
  return { server, mailer: createSmtpMailer({ server: address, from, timeoutMs: 50_000 }) };
}

describe("sending", () => {
  test("sends text and HTML to exactly the given address", async () => {
    const { server, mailer } = await world();
    expect(await mailer.send(mail)).toEqual({ outcome: "sent" });
    expect(server.mails).toMatchObject([{ from: "headwater@example.com", to: ["ada@example.com"], text: "One\nTwo", html: "<p>One</p>" }]);
    expect(server.mails[0]?.headers).toMatchObject({
      from: "Headwater <headwater@example.com>",
      to: "ada@example.com",
      subject: "Hello",
      "message-id": "<m_1@example.com>",
      "auto-submitted": "auto-generated",
    });
  });

  test("sends several mails over one connection", async () => {
    const { server, mailer } = await world();
    const session = await mailer.connect();
    for (const id of ["m_1", "m_2", "m_3"]) expect(await session.send({ ...mail, id })).toEqual({ outcome: "sent" });
    session.close();
    expect(server.mails).toHaveLength(3);
    expect(server.connections).toBe(1);
  });

  test("logs in with user and password", async () => {
    const { server, mailer } = await world({ login: { user: "ada", password } });
    expect(await mailer.send(mail)).toEqual({ outcome: "sent" });
    expect(server.mails).toHaveLength(1);
  });

  test("sends hostile texts as text: line breaks, HTML, U+0000, unpaired surrogates, leading dots", async () => {
    const { server, mailer } = await world();
    const text = ".\n..\nBcc: mallory@example.com\n\0\uD800 ünïcödé 😀\n.\nQUIT";
    const subject = "a\r\nBcc: mallory@example.com\r\n\r\nbody <b>\uDC00";
    expect(await mailer.send({ ...mail, id: "m\r\nX: y>", subject, text })).toEqual({ outcome: "sent" });
    expect(server.mails).toHaveLength(1);
    const received = server.mails[0];
    expect(received?.to).toEqual(["ada@example.com"]);
    expect(received?.headers).not.toHaveProperty("bcc");
    expect(received?.headers).not.toHaveProperty("x");
    expect(received?.headers["message-id"]).toBe("<m__X__y_@example.com>");
    expect(received?.text).toBe(".\n..\nBcc: mallory@example.com\n\uFFFD\uFFFD ünïcödé 😀\n.\nQUIT");
  });

  test("cuts a text of 3 MB", async () => {
    const { server, mailer } = await world();
    expect(await mailer.send({ ...mail, text: "0123456789\n".repeat(300_000) })).toEqual({ outcome: "sent" });
    expect(server.mails[0]?.text).toContain("… cut after 1048576 characters");
    expect(server.mails[0]?.raw.length).toBeLessThan(2_000_000);
  });

  test.each(["", "ada@example.com, mallory@example.com", "ada@example.com\r\nRCPT TO:<mallory@example.com>", "Ada <ada@example.com>"])(
    "refuses %j, which is not exactly one address",
    async (to) => {
      const { server, mailer } = await world();
      expect(await mailer.send({ ...mail, to })).toMatchObject({ outcome: "refused" });
      expect(server.mails).toEqual([]);
    },
  );
});

describe("failures", () => {
  test.each([
    [550, "refused"],
    [450, "retry"],
  ])("reports a recipient that is refused with %i as %s, and uses the connection further", async (code, outcome) => {
    const { server, mailer } = await world();
    server.hooks.recipient = () => {
      throw refusal(code, "mailbox of ada is closed");
    };
    const session = await mailer.connect();
    expect(await session.send(mail)).toMatchObject({ outcome, reason: expect.stringContaining("mailbox of ada is closed") as string });
    delete server.hooks.recipient;
    expect(await session.send(mail)).toEqual({ outcome: "sent" });
    session.close();
  });

  test.each([
    [554, "refused"],
    [451, "retry"],
  ])("reports a message that is refused with %i as %s", async (code, outcome) => {
    const { server, mailer } = await world();
    server.hooks.received = () => {
      throw refusal(code, "not this one");
    };
    expect(await mailer.send(mail)).toMatchObject({ outcome });
  });

  test("reports a refused sender as `retry`: it is a mistake of the installation, not of the mail", async () => {
    const { server, mailer } = await world();
    server.hooks.sender = () => {
      throw refusal(553, "not your address");
    };
    expect(await mailer.send(mail)).toMatchObject({ outcome: "retry" });
  });

  test("reports `unknown` when the connection is lost after the message was handed over", async () => {
    const { server, mailer } = await world();
    server.hooks.received = () => {
      server.cut();
      return new Promise(() => undefined);
    };
    expect(await mailer.send(mail)).toMatchObject({ outcome: "unknown" });
  });

  test("reports `retry` when the connection is lost before the message is handed over", async () => {
    const { server, mailer } = await world();
    server.hooks.recipient = () => {
      server.cut();
      return new Promise(() => undefined);
    };
    const session = await mailer.connect();
    expect(await session.send(mail)).toMatchObject({ outcome: "retry" });
    expect(session.isOpen).toBe(false);
  });

  test("ends a send in progress when it is closed", async () => {
    const { server, mailer } = await world();
    const session = await mailer.connect();
    server.hooks.recipient = () => {
      session.close();
      return new Promise(() => undefined);
    };
    expect(await session.send(mail)).toMatchObject({ outcome: "retry" });
  });

  test("names the address of a server that is away", async () => {
    const port = await steadyPort();
    const mailer = createSmtpMailer({ server: { host: "127.0.0.1", port, secure: false, login: undefined }, from });
    await expect(mailer.connect()).rejects.toThrow(`the SMTP server at 127.0.0.1:${port} is unavailable: connect ECONNREFUSED`);
    expect(await mailer.send(mail)).toMatchObject({ outcome: "retry" });
  });

  test("names a wrong login without the password", async () => {
    const { mailer } = await world({ login: { user: "ada", password } }, { login: { user: "ada", password: "wrong-password" } });
    const error = await mailer.connect().then(
      () => undefined,
      (failure: Error) => failure.message,
    );
    expect(error).toContain("the user name or the password is wrong");
    expect(error).not.toContain("wrong-password");
  });

  test("masks a password that the server repeats", async () => {
    const { server, mailer } = await world({ login: { user: "ada", password: "secret-1234" } });
    server.hooks.recipient = () => {
      throw refusal(550, "no secret-1234 here");
    };
    expect(await mailer.send(mail)).toEqual({ outcome: "refused", reason: expect.stringContaining("no *** here") as string });
  });

  test("gives up on a server that does not answer", async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const mailer = createSmtpMailer({ server: { host: "127.0.0.1", port, secure: false, login: undefined }, from, timeoutMs: 200 });
    // The times of the greeting and of the socket end together: either is reported first.
    await expect(mailer.connect()).rejects.toThrow(/is unavailable: (Timeout|Greeting never received)/);
    await new Promise((resolve) => silent.close(resolve));
  });

  test("stops connecting when it is aborted", async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const mailer = createSmtpMailer({ server: { host: "127.0.0.1", port, secure: false, login: undefined }, from });
    const stopping = new AbortController();
    silent.once("connection", () => stopping.abort());
    await expect(mailer.connect(stopping.signal)).rejects.toThrow("is unavailable");
    await new Promise((resolve) => silent.close(resolve));
  });

  test("sends no password without TLS over a network", async () => {
    const { mailer } = await world({ login: { user: "ada", password } }, { host: "localhost.localdomain" });
    // The name is not the loopback address by its text, so TLS is required whatever it resolves to.
    await expect(mailer.connect()).rejects.toThrow("is unavailable");
  });
});

test.each([
  ["smtp://mail.example.com", { host: "mail.example.com", port: 587, secure: false, login: undefined }],
  ["smtps://mail.example.com", { host: "mail.example.com", port: 465, secure: true, login: undefined }],
  ["smtp://ada:p%40ss%2Fw%3A@10.0.0.1:2525", { host: "10.0.0.1", port: 2525, secure: false, login: { user: "ada", password: "p@ss/w:" } }],
  ["smtp://a%40b.c:x@[::1]:25/", { host: "::1", port: 25, secure: false, login: { user: "a@b.c", password: "x" } }],
  ["http://mail.example.com", undefined],
  ["smtp://ada@mail.example.com", undefined],
  ["smtp://:x@mail.example.com", undefined],
  ["smtp://mail.example.com/path", undefined],
  ["smtp://mail.example.com?tls=no", undefined],
  ["smtp://a:%ZZ@mail.example.com", undefined],
  ["mail.example.com:25", undefined],
])("parses %s", (text, address) => {
  expect(parseSmtpUrl(text)).toEqual(address);
});

test.each([
  ["a@b.c", { name: "", address: "a@b.c" }],
  ["Head Water <a@b.c>", { name: "Head Water", address: "a@b.c" }],
  [`"Head, Water" <a@b.c>`, { name: "Head, Water", address: "a@b.c" }],
  ["a", undefined],
  ["a@b.c, d@e.f", undefined],
  ["x\r\nBcc: d@e.f <a@b.c>", undefined],
])("parses the sender %j", (text, sender) => {
  expect(parseSender(text)).toEqual(sender);
});
