import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import type { HttpResponse } from "../../domain/run-products.ts";
import type { IngressConfig, IngressPorts } from "../../ingress/ports.ts";
import { waitUntil } from "../../domain/retry.ts";
import { eventOf, rawClient, serveIngress, type RawClient, type ServedIngress } from "./served-ingress.ts";

const running: ServedIngress[] = [];
const clients: RawClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map(({ ingress }) => ingress.stop(AbortSignal.timeout(100))));
});

async function serve(config: Partial<IngressConfig> = {}, ports: Partial<IngressPorts> = {}): Promise<ServedIngress> {
  const served = await serveIngress(config, ports);
  running.push(served);
  return served;
}
async function send({ port }: ServedIngress, bytes: string, from?: string): Promise<RawClient> {
  const client = await rawClient(port, bytes, from);
  clients.push(client);
  return client;
}
const answered = ({ received }: RawClient, status: number): boolean => received().includes(`HTTP/1.1 ${status} `);
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe("the client that a source sees", () => {
  const claims = { "x-forwarded-for": "6.6.6.6, 203.0.113.9", "x-forwarded-proto": "https", "x-forwarded-port": "443" };

  it("is the address of the connection if no proxy is trusted, whatever the headers say", async () => {
    const served = await serve();
    expect((await fetch(served.url("/plain1/p"), { headers: claims })).status).toBe(200);
    const event = eventOf(served.stored[0]);
    expect([event.client_ip, event.url]).toEqual(["127.0.0.1", served.url("/plain1/p")]);
    expect(event.headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-port": String(served.port),
    });
  });

  it.each([{ networks: ["127.0.0.0/8"] }, { hops: 1 }])("is the address that a trusted proxy reports: %j", async (trustedProxies) => {
    const served = await serve({ trustedProxies, basePath: "/hooks" });
    expect((await fetch(served.url("/hooks/plain1/p"), { headers: claims })).status).toBe(200);
    const event = eventOf(served.stored[0]);
    expect([event.client_ip, event.path]).toEqual(["203.0.113.9", "/p"]);
    expect(event.url).toMatch(/^https:/);
    expect(event.headers).toMatchObject(claims);
  });
});

describe("an error", () => {
  const internal = "publishing on 'invoke.default.7.dc_plain1' failed: no answer from nats-server";
  const failing = (error: Error): Partial<IngressPorts> => ({ invocations: { publish: () => Promise.reject(error) } });

  it("of the store is shown without internal names, and logged with them", async () => {
    const served = await serve({}, failing(new Unavailable(internal)));
    const response = await fetch(served.url("/plain1"));
    expect([response.status, response.headers.get("retry-after"), await response.json()]).toEqual([
      503,
      "2",
      { error: "the request cannot be stored now: send it again as Retry-After says", code: "unavailable" },
    ]);
    expect(served.log).toMatchObject([{ op: "http.request", err: { message: internal } }]);
  });

  it("of the endpoint lookup, or an unexpected one, is shown without details", async () => {
    const lookUp = { peek: () => undefined, find: () => Promise.reject(new Unavailable("the bucket ENDPOINTS does not answer")) };
    const away = await serve({}, { endpoints: lookUp });
    const broken = await serve({}, failing(new TypeError(internal)));
    const answers = await Promise.all([away.url("/plain1"), broken.url("/plain1")].map((url) => fetch(url)));
    expect(answers.map(({ status }) => status)).toEqual([503, 500]);
    for (const answer of answers) expect(await answer.text()).not.toMatch(/ENDPOINTS|invoke|dc_|nats/);
  });

  it("of an outage is logged once a second", async () => {
    const served = await serve({}, failing(new Unavailable(internal)));
    await Promise.all(Array.from({ length: 50 }, () => fetch(served.url("/plain1"))));
    expect(served.log.length).toBeLessThanOrEqual(3);
  });

  it("of a run shows neither the run id nor the thrown error", async () => {
    const served = await serve();
    const asked = fetch(served.url("/custom1"));
    expect(await waitUntil(() => served.stored.length === 1, 120_000)).toBe(true);
    const ended = { id: "r_0", error: { name: "Error", message: "private" } };
    served.answer("r_0", { kind: "run", run: ended as never }); // All that is read of it.
    expect(await (await asked).json()).toEqual({ error: "the run failed without a response", code: "run_failed" });
  });
});

describe("requests that wait for respond()", () => {
  it("of one owner are at most a quarter of all, and other owners have room", async () => {
    const served = await serve({ maxConnections: 40 });
    const waiting: RawClient[] = [];
    for (let nth = 0; nth < 12; nth++) waiting.push(await send(served, get(nth % 2 === 0 ? "/custom1" : "/custom2")));
    expect(await waitUntil(() => waiting.filter((each) => answered(each, 503)).length === 2, 120_000)).toBe(true);
    expect(waiting.find((each) => answered(each, 503))?.received()).toContain('"code":"overloaded"');
    expect(served.stored).toHaveLength(10);
    await send(served, get("/customer1"));
    expect(await waitUntil(() => served.stored.length === 11, 120_000)).toBe(true);
  });

  it("are at most half of the connections: the owner with the most loses the oldest to one with fewer", async () => {
    const served = await serve({ maxConnections: 16 });
    const waiting: RawClient[] = [];
    for (const path of ["/custom1", "/custom2", "/custom1", "/custom2"]) waiting.push(await send(served, get(path)));
    expect(await waitUntil(() => served.stored.length === 4, 120_000)).toBe(true);
    for (const [nth, path] of ["/customer1", "/customer1", "/customer1", "/custommer1", "/custommer1"].entries()) {
      await send(served, get(path), "127.0.0.2");
      expect(await waitUntil(() => served.stored.length === 5 + nth, 120_000)).toBe(true);
    }
    expect(await waitUntil(() => answered(waiting[0] as RawClient, 503), 120_000)).toBe(true);
    expect(waiting[0]?.received()).toContain("those of this owner are the most");
    expect(waiting.slice(1).some((each) => answered(each, 503))).toBe(false);
  });

  it("do not retain their bodies", async () => {
    const served = await serve();
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // V8's own.
    const [count, bytes] = [40, 400_000];
    const usedBytes = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = usedBytes();
    for (let nth = 0; nth < count; nth++) {
      await send(served, `POST /custom1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`);
      expect(await waitUntil(() => served.stored.length === 1, 120_000)).toBe(true);
      served.stored.length = 0;
    }
    expect(await waitUntil(() => usedBytes() - before < (count * bytes) / 2, 120_000)).toBe(true);
  });

  it("hold a bounded number of bytes while their responses are not read", async () => {
    const served = await serve({ unreadBytes: 1_000_000 });
    const response: HttpResponse = { status: 200, headers: {}, body: "x".repeat(400_000) };
    const readers: RawClient[] = [];
    for (let nth = 0; nth < 4; nth++) {
      const reader = await send(served, "");
      reader.socket.pause();
      // Loopback takes a few MB before it pushes back; these are held until they have left.
      reader.socket.write(get("/custom1"));
      readers.push(reader);
      expect(await waitUntil(() => served.stored.length === nth + 1, 120_000)).toBe(true);
    }
    for (let nth = 0; nth < 4; nth++) served.answer(`r_${nth}`, { kind: "response", response });
    for (const { socket } of readers) socket.resume();
    expect(await waitUntil(() => readers.filter((each) => answered(each, 503)).length === 2, 120_000)).toBe(true);
    expect(await waitUntil(() => readers.filter((each) => each.received().length > 400_000).length === 2, 120_000)).toBe(true);
  });
});

it("refuses an owner who stores more than half of the budget at once", async () => {
  const gate = Promise.withResolvers<void>();
  const served = await serve({ storingChars: 100_000 }, { invocations: { publish: () => gate.promise } });
  const post = (path: string) => fetch(served.url(path), { method: "POST", body: "x".repeat(20_000) });
  const greedy = [post("/plain1"), post("/plain1")];
  await expect.poll(async () => (await post("/plain1")).status).toBe(503);
  const other = post("/customer1").catch(() => undefined);
  gate.resolve();
  expect((await Promise.all(greedy)).map(({ status }) => status)).toEqual([200, 200]);
  void other; // It waits for an answer that does not come.
});
