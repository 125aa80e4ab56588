import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { SecureContext } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OutgoingMail } from "../../../domain/mail/outgoing-mail.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createS3Objects } from "../../../platform/http/s3-objects.ts";
import { createWebhookClient } from "../../../platform/http/webhook-client.ts";
import { createSmtpMailer } from "../../../platform/mail/smtp.ts";
import { startTraces } from "../../../platform/telemetry/traces.ts";
import { trustedBesidesPublic, type ChangingFiles } from "../../../platform/tls/changing-files.ts";
import { createAuthority, type TestAuthority } from "../../support/certificate-authority.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { startCollector } from "../../support/otlp-collector.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const [internal, next] = [createAuthority("internal"), createAuthority("next internal")];
/** Of OpenSSL, for a certificate of an unknown authority. */
const refusal = /unable to verify|unable to get local issuer/;

/** Each client with real servers: one has a certificate of the first authority, one of the next. */
describe("private authorities", () => {
  let directory: TemporaryDirectory;
  let file: string;
  const opened = new Array<() => unknown>();
  const onFailure = (error: unknown): void => {
    throw error;
  };
  beforeEach(async () => {
    directory = await temporaryDirectory("private-ca");
    file = join(directory.path, "ca.crt");
    await writeFile(file, internal.certificate);
  });
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
    await directory.remove();
  });
  const trusted = (): ChangingFiles<SecureContext> => trustedBesidesPublic(file, onFailure);

  describe.each([
    ["smtps", true],
    ["STARTTLS", false],
  ])("of an SMTP server with %s", (_name, secure) => {
    const mail: OutgoingMail = { id: "m_1", to: "ada@example.com", subject: "Hello", text: "Hello" };
    async function mailerTo(authority: TestAuthority, trusted?: ChangingFiles<SecureContext>): Promise<() => Promise<string>> {
      const server = await startMailServer({ ...authority.issue(), secure });
      opened.push(() => server.stop());
      const address = { host: "127.0.0.1", port: server.port, secure, login: undefined };
      const mailer = createSmtpMailer({ server: address, from: { name: "", address: "headwater@example.com" }, trusted });
      return async () => {
        const result = await mailer.send(mail);
        return result.outcome === "sent" ? `sent ${server.mails.length}` : result.reason;
      };
    }

    it("are trusted for each new connection, also after they changed", async () => {
      const shared = trusted();
      const [old, rotated] = [await mailerTo(internal, shared), await mailerTo(next, shared)];
      expect(await old()).toBe("sent 1");
      expect(await rotated()).toMatch(refusal);
      await writeFile(file, next.certificate);
      await expect.poll(rotated).toBe("sent 1");
      expect(await old()).toMatch(refusal);
    });

    it("are unknown without the setting", async () => {
      expect(await (await mailerTo(internal))()).toMatch(refusal);
    });
  });

  it("verify an S3 store, also after they changed", async () => {
    const egress = createEgress({ allow: ["127.0.0.0/8"] });
    const client = createWebhookClient({ egress, timeoutMs: 30_000, connections: 1, trusted: trusted() });
    opened.push(() => client.close());
    const putIn = async (authority: TestAuthority): Promise<() => Promise<string>> => {
      const { endpoint, paths } = await startStore(authority);
      const keys = { region: "eu-x", accessKeyId: "ada", secretAccessKey: "secret", bucket: undefined, hasOwnerPrefix: true };
      const objects = createS3Objects({ endpoint, ...keys }, client);
      return async () => {
        const result = await objects.put({ bucket: "reports", key: ["a", "b"], body: "text", contentType: "text/plain" });
        return result.outcome === "answered" ? (paths.at(-1) ?? "") : result.message;
      };
    };
    const [old, rotated] = [await putIn(internal), await putIn(next)];
    expect(await old()).toBe("PUT /reports/a/b");
    expect(await rotated()).toMatch(/certificate of 127.0.0.1/);
    await writeFile(file, next.certificate);
    await expect.poll(rotated).toBe("PUT /reports/a/b");
    expect(await old()).toMatch(/certificate of 127.0.0.1/);
  });

  it("verify a collector of traces, also after they changed", async () => {
    const log = { warn: () => undefined };
    const sendTo = async (authority: TestAuthority, withSetting = true): Promise<() => Promise<readonly string[]>> => {
      const collector = await startCollector(200, authority.issue());
      opened.push(() => collector.close());
      return async () => {
        const options = { endpoint: collector.url, share: 1, service: "headwater-test", version: "0.0.0", log };
        const traces = startTraces({ ...options, ...(withSetting ? { trusted: shared } : {}) });
        traces.start("span", {}).end();
        await traces.stop();
        return collector.spans.map(({ name }) => name);
      };
    };
    const shared = trusted();
    const [old, rotated] = [await sendTo(internal), await sendTo(next)];
    expect(await old()).toEqual(["span"]);
    expect(await (await sendTo(internal, false))()).toEqual([]);
    expect(await rotated()).toEqual([]);
    await writeFile(file, next.certificate);
    await expect.poll(rotated).toContain("span");
    expect(await old(), "no further span").toEqual(["span"]);
  });

  it("keep the connection of running traces, and verify the next one with the changed authorities", async () => {
    const collector = await startCollector(200, internal.issue());
    opened.push(() => collector.close());
    const log = { warn: () => undefined };
    const traces = startTraces({ endpoint: collector.url, share: 1, service: "s", version: "0", log, trusted: trusted() });
    opened.push(() => traces.stop());
    traces.start("before", {}).end();
    await expect.poll(() => collector.spans.length).toBe(1);
    await writeFile(file, next.certificate);
    traces.start("after", {}).end();
    await expect.poll(() => collector.spans.length).toBe(2);
  });

  async function startStore(authority: TestAuthority): Promise<{ readonly endpoint: string; readonly paths: readonly string[] }> {
    const { certificate: cert, key } = authority.issue();
    const paths = new Array<string>();
    const server: Server = createServer({ cert, key }, (request, response) => {
      paths.push(`${request.method} ${request.url}`);
      request.resume();
      response.writeHead(200).end();
    });
    opened.push(() => server.close().closeAllConnections());
    await once(server.listen(0, "127.0.0.1"), "listening");
    return { endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }; // Listening on TCP.
  }
});
