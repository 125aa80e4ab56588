import { once } from "node:events";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import tls from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeConnectionError } from "../../platform/http/connection-error.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createTextReader } from "../../platform/http/text-reader.ts";
import { createTokenRefresher } from "../../platform/http/token-refresher.ts";
import { createWebhookClient } from "../../platform/http/webhook-client.ts";
import { certificate as selfSigned, privateKey as keyOfSelfSigned } from "../sandbox/net/certificate.ts";
import { authority, expired, notYetValid, ofAnotherName, privateKey } from "../support/certificates.ts";

/** The error text for an endpoint that cannot be reached, which is the same for all callers. */
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});
beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates("default"), authority]));

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port; // Listening on TCP.
}
const tlsServer = (cert: string, key = privateKey): Promise<number> => listen(createTlsServer({ cert, key }, (socket) => socket.end()));
const tcpServer = (): Promise<number> =>
  listen(createTcpServer((socket) => void socket.on("error", () => undefined).once("data", () => socket.resetAndDestroy())));

/** Resolves every name to this machine, except two names that test the resolver's own errors. */
const egress = createEgress({
  allow: ["127.0.0.1/32"],
  resolver: async (host) => {
    if (host === "nowhere.test") throw Object.assign(new Error("getaddrinfo ENOTFOUND nowhere.test"), { code: "ENOTFOUND" });
    if (host === "later.test") throw Object.assign(new Error("getaddrinfo EAI_AGAIN later.test"), { code: "EAI_AGAIN" });
    return [{ address: host === "private.test" ? "10.1.2.3" : "127.0.0.1", family: 4 }];
  },
});

async function messageOfWebhook(url: string): Promise<string> {
  const client = createWebhookClient({ egress, timeoutMs: 30_000, connections: 1 });
  const result = await client.post({ url, headers: {}, body: "{}" });
  await client.close();
  return result.outcome === "unreachable" ? result.message : result.outcome;
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}

describe("an endpoint", () => {
  it.each<[string, () => Promise<string>, string]>([
    [
      "whose certificate expired",
      async () => `https://expired.test:${await tlsServer(expired)}/`,
      "the certificate of expired.test expired on 2021-03-04",
    ],
    [
      "whose certificate is not valid yet",
      async () => `https://future.test:${await tlsServer(notYetValid)}/`,
      "the certificate of future.test is not valid yet: only from 2120-01-01",
    ],
    [
      "whose certificate is another's",
      async () => `https://mine.test:${await tlsServer(ofAnotherName)}/`,
      "the certificate of mine.test is for other names: elsewhere.test",
    ],
    [
      "that vouches for itself",
      async () => `https://localhost:${await tlsServer(selfSigned, keyOfSelfSigned)}/`,
      "the certificate of localhost is self-signed: it is not issued by a trusted authority",
    ],
    [
      "whose name does not resolve",
      async () => "https://nowhere.test/a?token=x",
      "the name nowhere.test does not resolve: check the spelling",
    ],
    [
      "whose name server is away",
      async () => "http://later.test/",
      "the name later.test does not resolve now: its name server does not respond",
    ],
    [
      "in a private network",
      async () => "http://private.test/",
      "egress to private.test is denied: it has no public address; HEADWATER_EGRESS_ALLOW lists the private networks that may be reached, and HEADWATER_EGRESS_SERVER is one address and port",
    ],
  ])("%s", async (_what, url, message) => {
    expect(await messageOfWebhook(await url())).toBe(message);
  });

  it("without a listener is named with its port, not with its address", async () => {
    const port = await freePort();
    expect(await messageOfWebhook(`http://closed.test:${port}/`)).toBe(`connection refused by closed.test:${port}: nothing listens there`);
  });

  it("that closes the connection or does not speak TLS is reported", async () => {
    const port = await tcpServer();
    expect(await messageOfWebhook(`http://resets.test:${port}/`)).toBe(`resets.test:${port} closed the connection before it answered`);
    const plain = await listen(
      createTcpServer((socket) => void socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    expect(await messageOfWebhook(`https://plain.test:${plain}/`)).toMatch(
      /^plain\.test does not speak TLS as expected \(\w+\): check whether it is an http URL$/,
    );
  });

  it("is described alike for the code of components and for tokens", async () => {
    const url = `https://expired.test:${await tlsServer(expired)}/component.mjs`;
    const reader = createTextReader({ egress, maxBytes: 1_000, timeoutMs: 30_000 });
    await expect(reader.read(url, new AbortController().signal)).rejects.toMatchObject({
      code: "address_unreachable",
      message: `'${url}' cannot be fetched: the certificate of expired.test expired on 2021-03-04`,
    });
    await reader.close();
    const refresher = createTokenRefresher({ egress, timeoutMs: 30_000 });
    const request = { tokenUrl: url, clientId: "c", refreshToken: "r", clientAuthentication: "basic" } as const;
    expect(await refresher.refresh(request)).toEqual({
      outcome: "unavailable",
      why: "the certificate of expired.test expired on 2021-03-04",
    });
  });
});

describe("an error", () => {
  it.each([
    ["of Node, with an address", Object.assign(new Error("connect EHOSTUNREACH 10.9.8.7:443"), { code: "EHOSTUNREACH" })],
    [
      "of Node, for all addresses of a name",
      Object.assign(new AggregateError([Object.assign(new Error("10.9.8.7"), { code: "ENETUNREACH" })]), { code: "ENETUNREACH" }),
    ],
    ["that is unknown", Object.assign(new Error("10.9.8.7 said my-secret"), { code: "EODD" })],
    ["that is none", "10.9.8.7 said my-secret"],
  ])("%s does not contain secrets", (_what, error) => {
    const { message } = describeConnectionError(error, "https://user:password@name.test/path?token=x");
    expect(message).toContain("name.test");
    expect(message).not.toMatch(/10\.9|secret|password|token|path/);
  });
});
