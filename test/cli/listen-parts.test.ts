import { randomBytes } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { post } from "../../cli/listen/post.ts";
import { deliveryHeaders, signingKeyOf } from "../../cli/listen/signature.ts";
import { targetOf } from "../../cli/listen/target.ts";
import { formatSigningKey, parseSigningKey, signatureHeaders } from "../../domain/delivery/webhook-signature.ts";
import { createHmacSha256 } from "../../platform/secrets/hmac.ts";

/** Parts of `hw listen`. */
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`); // Listening on TCP.
}

describe("--to", () => {
  it.each([
    ["3000", "https://example.com/orders?a=1", "http://localhost:3000/orders?a=1"],
    ["3000", "https://***@example.com/", "http://localhost:3000/"],
    ["http://localhost:8080/x", "https://example.com/orders", "http://localhost:8080/x"],
  ])("%s of a webhook at %s is %s", (to, url, expected) => {
    expect(targetOf(to, url).href).toBe(expected);
  });

  it.each(["0", "70000", "localhost:3000", "ftp://localhost", "port", ""])("refuses %j", (to) => {
    expect(() => targetOf(to, "https://example.com/")).toThrow(/^--to /);
  });
});

describe("headers", () => {
  const text = formatSigningKey(randomBytes(32));
  const message = { id: "e1", emitter: "dc_1", atMs: Date.now(), body: '{"a":"ö"}' };

  it("are those of a delivery", () => {
    const signed = { id: message.id, emitter: message.emitter, at: message.atMs, body: message.body };
    const expected = { "content-type": "application/json", ...signatureHeaders(signed, [parseSigningKey(text)], createHmacSha256()) };
    expect(deliveryHeaders(message, signingKeyOf(`${text}\n`))).toEqual(expected);
    expect(new Webhook(text).verify(message.body, deliveryHeaders(message, signingKeyOf(text)))).toEqual({ a: "ö" });
  });

  it("have no signature without a key", () => {
    expect(Object.keys(deliveryHeaders(message, undefined)).filter((name) => name.includes("signature"))).toEqual([]);
  });

  it.each(["", "secret", "whsec_", "whsec_c2hvcnQ="])("are not made with the key %j, which the error does not repeat", (key) => {
    expect(() => signingKeyOf(key)).toThrow("--signing-key is invalid: it must be whsec_ and the base64 of 24 to 64 bytes");
  });
});

describe("a post", () => {
  const given = { headers: { "webhook-id": "e1" }, body: "{}", signal: new AbortController().signal };

  it("returns the status, also of a redirect", async () => {
    const url = await listen((_request, response) => response.writeHead(302, { location: "/" }).end());
    expect(await post(url, given)).toMatchObject({ status: 302, error: null });
  });

  it("returns the status of a response whose body does not end", async () => {
    const url = await listen((_request, response) => void response.writeHead(200).write("some"));
    expect(await post(url, given)).toMatchObject({ status: 200, error: null });
  });

  it("says that nothing listens", async () => {
    const url = await listen(() => undefined);
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    expect(await post(url, given)).toMatchObject({ status: null, error: `nothing listens at ${url.host}` });
    url.hostname = "localhost";
    expect(await post(url, given)).toMatchObject({ status: null, error: `nothing listens at ${url.host}` });
  });

  it("says that a connection was closed without a response", async () => {
    const url = await listen((request) => request.socket.destroy());
    expect(await post(url, given)).toMatchObject({ status: null, error: `${url.host} closed the connection without a response` });
  });

  it("ends when the program takes too long, or the caller aborts", async () => {
    const url = await listen(() => undefined);
    expect(await post(url, { ...given, timeout: 50 })).toMatchObject({ status: null, error: "no response within 0.05 s" });
    expect(await post(url, { ...given, signal: AbortSignal.abort() })).toMatchObject({ status: null });
  });
});
