import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress, type EgressAddress } from "../../platform/http/egress.ts";
import { createWebhookClient, type WebhookClient, type WebhookClientOptions } from "../../platform/http/webhook-client.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const delivered = { outcome: "answered", status: 200 };
const denied = { outcome: "unreachable", code: "egress_denied" };

function clientOf(options: Partial<WebhookClientOptions>): WebhookClient {
  const client = createWebhookClient({ egress: createEgress({ allow: ["127.0.0.1/32"] }), timeoutMs: 60_000, connections: 4, ...options });
  ends.push(() => client.close());
  return client;
}

const post = (client: WebhookClient, url: string) => client.post({ url, headers: { "webhook-id": "em1" }, body: "{}" });

async function listen(server: Server | ReturnType<typeof createTcpServer>, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // Listening on TCP.
}

/** Records its requests, by the address of each. */
async function endpoint(host?: string, answer = (_request: IncomingMessage, response: ServerResponse) => void response.end("ok")) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    request.resume().on("end", () => answer(request, response));
  });
  const port = await listen(server, host);
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, port, server };
}

/** Returns one list after the other; the last one repeatedly. */
function resolving(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolver = async (host: string): Promise<EgressAddress[]> => {
    const addresses = answers[Math.min(asked.push(host), answers.length) - 1] ?? [];
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, resolver };
}

describe("a name that resolves to another address the next time", () => {
  it("is resolved once for a connection, and refused when another one would reach a private network", async () => {
    const { asked, port, server } = await endpoint();
    const names = resolving(["127.0.0.1"], ["10.0.0.1"]);
    const client = clientOf({ connections: 1, egress: createEgress({ allow: ["127.0.0.1/32"], resolver: names.resolver }) });
    expect(await post(client, `http://rebinding.test:${port}/a`)).toMatchObject(delivered);
    expect(await post(client, `http://rebinding.test:${port}/b`)).toMatchObject(delivered); // Over the same connection.
    expect(names.asked).toEqual(["rebinding.test"]);
    const closed = once(server, "close");
    server.closeAllConnections();
    server.close();
    await closed;
    expect(await postUntilRefused(client, `http://rebinding.test:${port}/c`)).toMatchObject(denied);
    expect(asked).toEqual(["/a", "/b"].map((path) => `rebinding.test:${port}${path}`));
  });

  it("is refused when one of its addresses is private, also in IPv6 or mapped into it", async () => {
    const { asked, port } = await endpoint();
    for (const address of ["::1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "fd00::1", "64:ff9b::7f00:1"]) {
      const names = resolving(["127.0.0.1", address]);
      const client = clientOf({ egress: createEgress({ allow: ["127.0.0.1/32"], resolver: names.resolver }) });
      expect(await post(client, `http://mixed.test:${port}/`)).toMatchObject(denied);
    }
    expect(asked).toEqual([]);
  });
});

/** The client sees a closed connection a moment later. */
async function postUntilRefused(client: WebhookClient, url: string) {
  for (;;) {
    const result = await post(client, url);
    if (result.outcome !== "unreachable" || result.code === "egress_denied") return result;
  }
}

describe("a literal address", () => {
  it("is refused in every spelling that reaches a private network, before a connection is opened", async () => {
    const { asked, port } = await endpoint();
    const client = clientOf({ egress: createEgress({ allow: [] }) });
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::]",
      "[fe80::1]",
    ])
      expect(await post(client, `http://${host}:${port}/`), host).toMatchObject(denied);
    expect(asked).toEqual([]);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
  it.skipIf(!hasIpv6)("in IPv6 is posted to if its network is allowed", async () => {
    const { asked, port } = await endpoint("::1");
    const client = clientOf({ egress: createEgress({ allow: ["::1/128"] }) });
    expect(await post(client, `http://[::1]:${port}/six`)).toMatchObject(delivered);
    expect(asked).toEqual([`[::1]:${port}/six`]);
  });

  it("mapped into IPv6 is allowed or refused like its IPv4 address", async () => {
    const { port } = await endpoint();
    expect(await post(clientOf({}), `http://[::ffff:127.0.0.1]:${port}/`)).toMatchObject(delivered);
  });
});

describe("a kept connection", () => {
  /** Responds to the first request of each connection, and ends the connection when the next one arrives. */
  async function closesOnReuse(end: (socket: Socket) => void): Promise<{ readonly port: number; readonly connections: () => number }> {
    let connections = 0;
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      connections++;
      sockets.add(socket.on("error", () => undefined));
      let requests = 0;
      socket.on("data", (chunk: Buffer) => {
        if (!chunk.includes("POST ")) return;
        if (++requests === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        else end(socket);
      });
    });
    const port = await listen(server);
    ends.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { port, connections: () => connections };
  }

  it.each([
    ["ends it", (socket: Socket) => void socket.end()],
    ["resets it", (socket: Socket) => void socket.resetAndDestroy()],
  ])("costs no attempt when its server %s just as it is used again", async (_how, end) => {
    const { port, connections } = await closesOnReuse(end);
    const client = clientOf({ connections: 1 });
    for (let n = 1; n <= 4; n++) {
      expect(await post(client, `http://127.0.0.1:${port}/`)).toMatchObject(delivered);
      expect(connections()).toBe(n);
    }
  });

  it("is not retried when the server ends new connections without a response", async () => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.on("error", () => undefined).on("data", () => socket.end());
    });
    const port = await listen(server);
    ends.push(async () => server.close());
    expect(await post(clientOf({}), `http://127.0.0.1:${port}/`)).toMatchObject({ outcome: "unreachable", code: "UND_ERR_SOCKET" });
    expect(connections).toBe(1);
  });
});

describe("a post that waits for a connection", () => {
  it("fails when none is free in time, and is not sent later", async () => {
    let requests = 0;
    const { port } = await endpoint(undefined, () => void requests++);
    const client = clientOf({ connections: 1, timeoutMs: 500 });
    const both = await Promise.all([post(client, `http://127.0.0.1:${port}/`), post(client, `http://127.0.0.1:${port}/`)]);
    expect(both).toMatchObject([
      { outcome: "unreachable", code: "timeout", message: "no answer within 500 ms" },
      { outcome: "unreachable", code: "timeout", message: "no connection was free within 500 ms" },
    ]);
    expect(requests).toBe(1);
  });
});

describe("the body of a response", () => {
  const head = "HTTP/1.1 202 Accepted\r\nretry-after: 7\r\n";
  it.each([
    ["never ends", (socket: Socket) => void socket.write(`${head}content-length: 10\r\n\r\nabc`)],
    ["breaks off", (socket: Socket) => void socket.end(`${head}content-length: 10\r\n\r\nabc`)],
    ["is larger than is read", (socket: Socket) => void socket.write(`${head}content-length: 100000\r\n\r\n${"x".repeat(99_999)}`)],
    ["comes in pieces", (socket: Socket) => void socket.write(`${head}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`)],
    ["comes after a promise of it", (socket: Socket) => void socket.write(`HTTP/1.1 103 Early\r\n\r\n${head}content-length: 1\r\n\r\na`)],
  ])("does not change the outcome when it %s", async (_how, answer) => {
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket.on("error", () => undefined));
      socket.on("data", (chunk: Buffer) => void (chunk.includes("POST ") && answer(socket)));
    });
    const port = await listen(server);
    ends.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const client = clientOf({ connections: 1 });
    for (let n = 0; n < 2; n++)
      expect(await post(client, `http://127.0.0.1:${port}/`)).toEqual({ outcome: "answered", status: 202, retryAfter: "7" });
  });
});

describe("a proxy", () => {
  it("that is unreachable is named beside the endpoint, since the error does not show which of them failed", async () => {
    const { port, server } = await endpoint();
    const closed = once(server, "close");
    server.close();
    await closed;
    const result = await post(clientOf({ proxy: `http://127.0.0.1:${port}` }), "http://shop.test/hook");
    expect(result).toMatchObject({
      outcome: "unreachable",
      message: expect.stringMatching(/shop\.test:80.* \(asked through the delivery proxy\)$/),
    });
  });

  /** A proxy that forwards all requests to one port. */
  async function proxyTo(port: number) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
      const { pathname } = new URL(request.url ?? "/", "http://none.test");
      const onwards = forward({ port, host: "127.0.0.1", method: "POST", path: pathname, headers: request.headers }, (answered) => {
        response.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(response);
      });
      request.pipe(onwards.on("error", () => void response.writeHead(502).end()));
    });
    server.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      const onwards = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(onwards).pipe(socket);
      });
      for (const each of [socket, onwards]) each.on("error", () => void socket.destroy());
    });
    const at = await listen(server);
    ends.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return { asked, port: at };
  }

  it("receives requests to names, resolves them itself, and gets the credentials", async () => {
    const { asked, port } = await endpoint();
    const proxy = await proxyTo(port);
    const names = resolving(["10.0.0.1"]);
    const egress = createEgress({ allow: [], resolver: names.resolver });
    const client = clientOf({ egress, proxy: `http://ada:secret@127.0.0.1:${proxy.port}` });
    expect(await post(client, "http://inside.test/hook")).toMatchObject(delivered);
    expect(proxy.asked).toEqual([`POST http://inside.test/hook Basic ${Buffer.from("ada:secret").toString("base64")}`]);
    expect([asked, names.asked]).toEqual([["inside.test/hook"], []]);
  });

  it("is asked for a tunnel to HTTPS endpoints", async () => {
    const { port } = await endpoint();
    const proxy = await proxyTo(port);
    // No TLS server listens there: only the request for a tunnel can be checked.
    expect(await post(clientOf({ proxy: `http://127.0.0.1:${proxy.port}` }), "https://shop.test/hook")).toMatchObject({
      outcome: "unreachable",
    });
    expect(proxy.asked).toEqual(["CONNECT shop.test:443"]);
  });

  it("never receives requests to a literal address in a private network", async () => {
    const { port } = await endpoint();
    const proxy = await proxyTo(port);
    const client = clientOf({ egress: createEgress({ allow: [] }), proxy: `http://127.0.0.1:${proxy.port}` });
    expect(await post(client, "http://169.254.169.254/latest")).toMatchObject(denied);
    expect(proxy.asked).toEqual([]);
  });

  it("does not change the time limit of an endpoint", async () => {
    const { port } = await endpoint(undefined, () => undefined);
    const proxy = await proxyTo(port);
    const client = clientOf({ timeoutMs: 300, proxy: `http://127.0.0.1:${proxy.port}` });
    expect(await post(client, "http://slow.test/hook")).toMatchObject({ outcome: "unreachable", code: "timeout" });
  });
});
