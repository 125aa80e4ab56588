import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ofAnotherName, ofLocalhost } from "../../support/certificates.ts";
import { refusal, startMailServer, type MailServer, type MailServerOptions } from "../../support/mail-server.ts";
import { registryAnswers } from "../../support/npm-registry.ts";
import { withRegistry } from "../registry-support.ts";

const registry = withRegistry();
let isOffline = false;
beforeAll(async () => {
  isOffline = !(await registryAnswers());
});
beforeEach(({ skip }) => skip(isOffline, "the npm registry does not answer"));

const mail = { from: "Shop <shop@example.com>", to: ["ann@example.com"], subject: "Größe", text: "Thanks" };
const login = { user: "shop", password: "p4ssw0rd-x" };

async function serve(options: MailServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.stop());
  return server;
}
const send = ({ port }: MailServer, props: object = {}, event?: unknown) =>
  registry.step("headwater-send-mail", { host: "127.0.0.1", port, security: "none", ...mail, ...props }, event);

describe("headwater-send-mail", () => {
  it("sends text and HTML with a login, to all recipients, without naming those of blind copies", async () => {
    const server = await serve({ login });
    const props = { ...login, cc: ["bob@example.com"], bcc: ["eve@example.com"], replyTo: "help@example.com", html: "<b>Thanks</b>" };
    const { result, exports } = await send(server, props);
    expect(result).toMatchObject({ accepted: ["ann@example.com", "bob@example.com", "eve@example.com"], rejected: [] });
    expect(exports).toEqual({ $summary: 'Sent "Größe" to 3 recipients' });
    const [received] = server.mails;
    expect(received).toMatchObject({
      from: "shop@example.com",
      to: ["ann@example.com", "bob@example.com", "eve@example.com"],
      text: "Thanks",
      html: "<b>Thanks</b>",
      headers: {
        from: "Shop <shop@example.com>",
        "reply-to": "help@example.com",
        "message-id": (result as { message_id: string }).message_id,
      },
    });
    expect(received?.raw).not.toContain("eve@example.com");
  });

  it("takes values of expressions as text, so that no event adds headers", async () => {
    const server = await serve();
    await send(server, { subject: "{{steps.trigger.event.name}}" }, { name: "Hi\r\nBcc: eve@example.com" });
    expect(server.mails).toMatchObject([{ to: ["ann@example.com"] }]);
    expect(server.mails[0]?.headers).not.toHaveProperty("bcc");
  });

  it("encrypts with STARTTLS, and checks the certificate", async () => {
    const server = await serve({ certificate: ofLocalhost, login });
    await send(server, { security: "required", ca: ofLocalhost, ...login });
    expect(server.mails).toHaveLength(1);
  });

  it.each([
    ["offers no encryption", {}, /STARTTLS|TLS/],
    ["has a certificate that is not trusted", { certificate: ofLocalhost }, /certificate|self.signed/i],
    ["has a certificate of another name", { certificate: ofAnotherName }, /certificate|altnames/i],
  ])("sends nothing to a server that %s", async (_, options, message) => {
    const server = await serve(options);
    await expect(send(server, { security: "required" })).rejects.toThrow(message);
    expect(server.mails).toEqual([]);
  });

  it("fails with the server's answer, and without the password", async () => {
    const server = await serve({ login });
    const refused = send(server, { ...login, user: "other" });
    await expect(refused).rejects.toThrow("535 5.7.8 the user name or the password is wrong");
    await expect(refused).rejects.not.toThrow(login.password);
    server.hooks.recipient = () => {
      throw refusal(550, "5.1.1 no such user");
    };
    await expect(send(server, login)).rejects.toThrow("550 5.1.1 no such user");
  });

  it("returns the recipients that the server refused", async () => {
    const server = await serve();
    server.hooks.recipient = (address) => {
      if (address === "bob@example.com") throw refusal(550, "5.1.1 no such user");
    };
    expect((await send(server, { cc: ["bob@example.com"] })).result).toMatchObject({
      accepted: ["ann@example.com"],
      rejected: ["bob@example.com"],
    });
  });

  it("asks the installation to mail the owner if there is no host", async () => {
    const { sends, result } = await registry.step("headwater-send-mail", { subject: "Paid", text: "Order 7" });
    expect(result).toEqual({ queued: true });
    expect(sends).toMatchObject([{ kind: "email", argument: { subject: "Paid", text: "Order 7" } }]);
  });

  it.each([
    ["neither text nor HTML", { host: "127.0.0.1", subject: "x", from: "a@b.test", to: ["c@d.test"] }, "the mail is empty"],
    ["a host without recipients", { host: "127.0.0.1", subject: "x", text: "x", from: "a@b.test" }, "from and to are missing"],
    ["recipients without a host", { subject: "x", text: "x", to: ["c@d.test"] }, "host is missing"],
  ])("refuses %s", async (_, props, message) => {
    await expect(registry.step("headwater-send-mail", props)).rejects.toThrow(message);
  });
});
