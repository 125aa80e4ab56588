import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { MessageReader, RawClient, startReceiver } from "../../bench/harness/baseline/raw-http.ts";
import { RoundTrips, type Load } from "../../bench/harness/measure/round-trip-ledger.ts";

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers each request; `onRequest` gets its id and its number. */
async function startServer(onRequest: (id: string, number: number) => number): Promise<number> {
  let number = 0;
  const server: Server = createServer((request, response) => {
    let body = "";
    request
      .on("data", (chunk: Buffer) => (body += chunk.toString()))
      .on("end", () => {
        response.writeHead(onRequest((JSON.parse(body) as { id: string }).id, number++)).end("{}");
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port; // listens on TCP
}

const load = (port: number, pace: Load["pace"], durationMs = 300): Load => ({
  port,
  paths: ["/a", "/b"],
  durationMs,
  pace,
  padding: 20,
});

describe("round trips", () => {
  it("keeps a number under way, and counts each event once", async () => {
    let most = 0;
    const out = new Set<string>();
    const trips = new RoundTrips(
      load(
        await startServer((id) => {
          out.add(id);
          most = Math.max(most, out.size);
          setImmediate(() => {
            out.delete(id);
            trips.onBody(JSON.stringify({ id, at: Date.now() }));
          });
          return 200;
        }),
        { kind: "closed", inFlight: 5 },
      ),
      (port) => new RawClient(port),
    );
    const result = await trips.run();
    expect(result.completed).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(5);
    expect([result.missing, result.doubled, result.refused]).toEqual([0, 0, {}]);
  });

  it("sends at a steady rate regardless of responses, and counts refused and repeated requests", async () => {
    const trips = new RoundTrips(
      load(
        await startServer((id, number) => {
          if (number % 10 === 0) return 503;
          setImmediate(() => {
            const body = JSON.stringify({ id, at: Date.now() });
            trips.onBody(body);
            if (number === 1) trips.onBody(body);
          });
          return 200;
        }),
        { kind: "open", perSecond: 200 },
        500,
      ),
      (port) => new RawClient(port),
    );
    const startedAt = performance.now();
    const result = await trips.run();
    const dueMeanwhile = (performance.now() - startedAt) / 5;
    const refused = result.refused["503"] ?? 0;
    expect(result.completed + refused).toBeGreaterThanOrEqual(80);
    expect(result.completed + refused).toBeLessThanOrEqual(dueMeanwhile + 1);
    expect(refused).toBeGreaterThanOrEqual(8);
    expect([result.missing, result.doubled]).toEqual([0, 1]);
  });
});

describe("raw HTTP", () => {
  it("reads messages however they are cut", () => {
    const text = "POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    const reader = new MessageReader();
    const messages = Array.from(text).flatMap((character) => reader.take(character));
    expect(messages).toEqual([
      { start: "POST /x HTTP/1.1", body: "hello" },
      { start: "HTTP/1.1 200 OK", body: "" },
    ]);
    expect(new MessageReader().take(text)).toEqual(messages);
  });

  it("receives what a client of the standard library posts", async () => {
    const bodies: string[] = [];
    const { port, server } = await startReceiver((body) => bodies.push(body));
    servers.push(server);
    const answer = await fetch(`http://127.0.0.1:${port}/hook`, {
      method: "POST",
      body: "one",
      headers: { connection: "close" },
    });
    expect([answer.status, bodies]).toEqual([200, ["one"]]);
  });
});
