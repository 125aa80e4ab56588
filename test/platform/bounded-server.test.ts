import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { noProxies } from "../../domain/client-address.ts";
import { createBoundedServer, type ServerLimits } from "../../platform/http/bounded-server.ts";
import { waitUntil } from "../../domain/retry.ts";

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

const limits: ServerLimits = { requestTimeoutMs: 30_000, silenceTimeoutMs: 60_000, maxConnections: 100, trustedProxies: noProxies };

/** `/held` is answered when the test allows it, `/large` with 64 MB, everything else at once. */
async function serve(changes: Partial<ServerLimits> = {}) {
  const held: ServerResponse[] = [];
  const unread: boolean[] = [];
  const { server, charge } = createBoundedServer({ ...limits, ...changes }, (request, response) => {
    request.resume();
    const user = request.headers["x-user"];
    if (typeof user === "string" && !charge(request, user)) return void response.writeHead(429).end();
    if (request.url === "/held") return void held.push(response);
    response.once("close", () => unread.push(!response.writableFinished));
    response.end(request.url === "/large" ? Buffer.alloc(64 * 2 ** 20) : "ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.closeAllConnections(), server.close.bind(server));
  return { held, unread, port: (server.address() as AddressInfo).port }; // Listening on TCP.
}

interface Client {
  readonly socket: Socket;
  readonly received: () => string;
  readonly isClosed: () => boolean;
}

/** @param from each address is a network of its own */
async function client(port: number, text = "", from = "127.0.0.1"): Promise<Client> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  let [received, closed] = ["", false];
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined).once("close", () => (closed = true));
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  ends.push(() => socket.destroy());
  return { socket, received: () => received, isClosed: () => closed };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const answers = ({ received }: Client): number => received().split("HTTP/1.1 200 OK").length - 1;

describe("connections", () => {
  it("from one network take at most half of them, and another network gets the rest", async () => {
    const { port } = await serve({ maxConnections: 8 });
    const crowd: Client[] = [];
    for (let nth = 0; nth < 6; nth++) crowd.push(await client(port, get("/held")));
    expect(await waitUntil(() => crowd.filter((each) => each.isClosed()).length === 2, 120_000)).toBe(true);
    const others = await Promise.all(Array.from({ length: 4 }, () => client(port, get("/"), "127.0.0.2")));
    expect(await waitUntil(() => others.every((each) => answers(each) === 1), 120_000)).toBe(true);
  });

  it("are closed while idle to make room for another network", async () => {
    const { port } = await serve({ maxConnections: 8 });
    const busy = await client(port, get("/held"));
    const idle: Client[] = [];
    for (let nth = 0; nth < 3; nth++) idle.push(await client(port, get("/")));
    expect(await waitUntil(() => idle.every((each) => answers(each) === 1), 120_000)).toBe(true);
    for (let nth = 0; nth < 3; nth++) await client(port, get("/held"), "127.0.0.2");
    const last = [await client(port, get("/held"), "127.0.0.2"), await client(port, get("/"), "127.0.0.3")];
    expect(await waitUntil(() => answers(last[1] ?? busy) === 1, 120_000)).toBe(true);
    expect([busy, ...idle, ...last].map((each) => each.isClosed())).toEqual([false, true, false, false, false, false]);
  });

  it("from a trusted proxy may take all of them", async () => {
    const { port } = await serve({ maxConnections: 8, trustedProxies: { networks: ["127.0.0.0/8"] } });
    const all: Client[] = [];
    for (let nth = 0; nth < 8; nth++) all.push(await client(port, get("/held")));
    all.push(await client(port, get("/")));
    expect(await waitUntil(() => all.filter((each) => each.isClosed()).length === 1, 120_000)).toBe(true);
    expect(all[8]?.isClosed()).toBe(true);
  });

  describe("of users", () => {
    const as = (user: string, path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-User: ${user}\r\n\r\n`;
    const refusals = ({ received }: Client): number => received().split("HTTP/1.1 429").length - 1;

    it("are at most three eighths for one user, from however many networks, while requests are in progress", async () => {
      const { port, held } = await serve({ maxConnections: 8 });
      const crowd: Client[] = [];
      for (let nth = 0; nth < 5; nth++) crowd.push(await client(port, as("ada", "/held"), `127.0.0.${nth + 2}`));
      expect(await waitUntil(() => crowd.filter((each) => refusals(each) === 1).length === 2 && held.length === 3, 120_000)).toBe(true);
      const other = await client(port, as("bob", "/"), "127.0.0.9");
      expect(await waitUntil(() => answers(other) === 1, 120_000)).toBe(true);
      for (const response of held) response.end("ok");
      expect(await waitUntil(() => crowd.filter((each) => answers(each) === 1).length === 3, 120_000)).toBe(true);
      for (const each of crowd) each.socket.write(as("ada", "/"));
      expect(await waitUntil(() => crowd.filter((each) => answers(each) > 0).length === 5, 120_000)).toBe(true);
    });

    it("are not charged to the networks from which they come", async () => {
      const { port, held } = await serve({ maxConnections: 8 });
      const users = ["ada", "bob", "cyd", "dan"].map((user) => as(user, "/held"));
      for (const text of users) await client(port, text);
      expect(await waitUntil(() => held.length === 4, 120_000)).toBe(true);
      const fifth = await client(port, get("/"));
      expect(await waitUntil(() => answers(fifth) === 1, 120_000)).toBe(true);
    });

    it("make room for a user with fewer when all are in progress", async () => {
      const { port, held } = await serve({ maxConnections: 8 });
      const crowd: Client[] = [];
      for (const user of ["ada", "ada", "ada", "bob", "bob", "bob", "cyd", "cyd"])
        crowd.push(await client(port, as(user, "/held"), "127.0.0.2"));
      expect(await waitUntil(() => held.length === 8, 120_000)).toBe(true);
      const dan = await client(port, as("dan", "/"));
      expect(await waitUntil(() => answers(dan) === 1, 120_000)).toBe(true);
      expect(crowd.map((each) => each.isClosed())).toEqual([true, false, false, false, false, false, false, false]);
    });

    it("make room before one does whose client sends its request slowly or reads nothing", async () => {
      const { port } = await serve({ maxConnections: 8 });
      const slow: Client[] = [];
      for (let nth = 0; nth < 8; nth++) {
        const body = nth % 2 === 0 ? get("/large") : "POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1";
        slow.push(await client(port, "", `127.0.0.${nth < 4 ? 2 : 3}`));
        slow.at(-1)?.socket.pause().write(body);
      }
      const other = await client(port, as("ada", "/"), "127.0.0.4");
      expect(await waitUntil(() => answers(other) === 1, 120_000)).toBe(true);
    });
  });

  it("are closed when no complete head arrives in time", async () => {
    const { port } = await serve({ requestTimeoutMs: 500 });
    const slow = [await client(port), await client(port, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")];
    expect(await waitUntil(() => slow.every((each) => each.isClosed()), 120_000)).toBe(true);
  });

  it("are closed when their client reads nothing, and the response is dropped", async () => {
    const { port, unread } = await serve({ silenceTimeoutMs: 1_000 });
    const { socket } = await client(port);
    socket.pause();
    socket.write(get("/large"));
    expect(await waitUntil(() => unread.length === 1, 120_000)).toBe(true);
    expect(unread).toEqual([true]);
  });
});

describe("a request that was answered before its body was read", () => {
  const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

  it("may end, and another one follows on its connection", async () => {
    const { port } = await serve();
    const early = await client(port, `${head}5\r\nhello\r\n`);
    expect(await waitUntil(() => answers(early) === 1, 120_000)).toBe(true);
    early.socket.write(`${"5\r\nhello\r\n".repeat(1_000)}0\r\n\r\n${get("/")}`);
    expect(await waitUntil(() => answers(early) === 2, 120_000)).toBe(true);
  });

  it.each([
    ["in tiny chunks", "1\r\nx\r\n".repeat(5_000)],
    ["in large ones", `10000\r\n${"x".repeat(65_536)}\r\n`.repeat(16)],
  ])("is cut off when it continues %s", async (_how, more) => {
    const { port } = await serve();
    const endless = await client(port, head);
    const sending = setInterval(() => endless.socket.writable && endless.socket.write(more), 5);
    expect(await waitUntil(() => endless.isClosed(), 120_000)).toBe(true);
    clearInterval(sending);
    expect(answers(endless)).toBe(1);
  });
});

describe("pipelined requests", () => {
  it("are answered in order", async () => {
    const { port, held } = await serve();
    const pipelining = await client(port, get("/held") + get("/").repeat(98));
    expect(await waitUntil(() => held.length === 1, 120_000)).toBe(true);
    expect(pipelining.received()).toBe("");
    held[0]?.end("first");
    expect(await waitUntil(() => answers(pipelining) === 99, 120_000)).toBe(true);
    expect(pipelining.received().indexOf("first")).toBeLessThan(pipelining.received().indexOf("ok"));
  });

  it("end the connection when more than a hundred are unanswered", async () => {
    const { port, held } = await serve();
    const flooding = await client(port, get("/held").repeat(1_000));
    expect(await waitUntil(() => flooding.isClosed(), 120_000)).toBe(true);
    expect(held.length).toBeLessThanOrEqual(100);
  });
});
