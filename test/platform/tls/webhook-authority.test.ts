import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import tls from "node:tls";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createEgress } from "../../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient } from "../../../platform/http/webhook-client.ts";
import { trustedBesidesPublic } from "../../../platform/tls/changing-files.ts";
import { createAuthority, type TestAuthority } from "../../support/certificate-authority.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const [publicAuthority, internal, next] = ["public", "internal", "next internal"].map((name) => createAuthority(name)) as [
  TestAuthority,
  TestAuthority,
  TestAuthority,
]; // As many as names.

describe("authorities of webhooks", () => {
  let directory: TemporaryDirectory;
  let file: string;
  let failures: unknown[];
  const servers: Server[] = [];
  const clients: WebhookClient[] = [];

  beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates("default"), publicAuthority.certificate]));
  beforeEach(async () => {
    directory = await temporaryDirectory("webhook-ca");
    file = join(directory.path, "ca.crt");
    failures = [];
    await writeFile(file, internal.certificate);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    for (const server of servers.splice(0)) server.close().closeAllConnections();
    await directory.remove();
  });

  async function endpoint(authority: TestAuthority): Promise<string> {
    const { certificate: cert, key } = authority.issue();
    const server = createServer({ cert, key }, (request, response) => {
      request.resume();
      response.writeHead(204).end();
    });
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return `https://localhost:${(server.address() as AddressInfo).port}/`; // Listening on TCP.
  }

  function createClient(isTrusted = true): (url: string) => Promise<number | string> {
    const egress = createEgress({ allow: ["127.0.0.1/32"], resolver: async () => [{ address: "127.0.0.1", family: 4 }] });
    const trusted = isTrusted ? trustedBesidesPublic(file, (error) => failures.push(error)) : undefined;
    const client = createWebhookClient({ egress, timeoutMs: 30_000, connections: 1, trusted });
    clients.push(client);
    return async (url) => {
      const result = await client.post({ url, headers: {}, body: "{}" });
      return result.outcome === "answered" ? result.status : result.message;
    };
  }

  it("delivers to certificates of a private authority and of the public ones", async () => {
    const post = createClient();
    expect(await post(await endpoint(internal))).toBe(204);
    expect(await post(await endpoint(publicAuthority))).toBe(204);
    expect(await post(await endpoint(next))).toMatch(/certificate of localhost/);
  });

  it("refuses certificates of a private authority without the setting", async () => {
    const post = createClient(false);
    expect(await post(await endpoint(internal))).toMatch(/certificate of localhost/);
    expect(await post(await endpoint(publicAuthority))).toBe(204);
  });

  it("uses changed authorities without a restart, and ends connections that only the previous ones trusted", async () => {
    const post = createClient();
    const [old, rotated] = [await endpoint(internal), await endpoint(next)];
    expect(await post(old)).toBe(204);
    await writeFile(file, next.certificate);
    await expect.poll(() => post(rotated)).toBe(204);
    expect(await post(old)).toMatch(/certificate of localhost/);
  });

  it("keeps its authorities while the file contains none", async () => {
    const post = createClient();
    const url = await endpoint(internal);
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n");
    const report = async () => [await post(url), failures.length];
    await expect.poll(report).toEqual([204, 1]);
  });
});
