import { createServer, type Server } from "node:http";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, errorOf, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** The log of a run that returns too early names what it would have lost without a word. */
let fixture: SandboxFixture;
const urls: Record<"answers" | "hangs" | "streams" | "port", string> = { answers: "", hangs: "", streams: "", port: "" };
const servers = [
  createServer((_, response) => void response.end("answer")),
  createServer(() => undefined),
  createServer((_, response) => void response.writeHead(200).write("x".repeat(100_000))),
  createNetServer((socket) => void socket.on("error", () => undefined).write("hello")),
] as const;

const portOf = (server: Pick<Server, "address">): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  fixture = await shareSandbox();
  await Promise.all(servers.map((server) => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))));
  const [answers, hangs, streams, net] = servers;
  for (const [name, server] of Object.entries({ answers, hangs, streams }))
    Object.assign(urls, { [name]: `http://127.0.0.1:${portOf(server)}/` });
  urls.port = String(portOf(net));
});
afterAll(async () => {
  await fixture.stop();
  for (const server of servers) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  }
});

const run = (body: string, more: object = {}) =>
  fixture.run(
    `export default { name: "c", methods: { async load(url) { await fetch(url); this.$emit("loaded"); } },
  async run(event) { const { answers, hangs, streams, port } = event;
    ${body}
  } };`,
    { event: JSON.stringify(urls), ...more },
  );

const warning = async (body: string): Promise<string> => {
  const { outcome, logs } = ended(await run(body));
  expect([outcome, logs.map(({ k }) => k)]).toEqual(["returned", ["console.warn"]]);
  return logs[0]?.msg ?? "";
};

describe("a run that returns with open work warns of", () => {
  it.each<readonly [string, string, RegExp]>([
    [
      "a method that was called without await",
      `this.load(hangs);`,
      /\n- fetch GET http:\S+\n {4}at Object\.load \(component\.js:\d+:\d+\)\n {4}at Object\.run /,
    ],
    ["a request after other promises", `(async () => { for (let n = 0; n < 10; n++) await n; await fetch(hangs); })();`, /\n- fetch GET /],
    ["a request with a body", `fetch(hangs, { method: "POST", body: "x" });`, /\n- fetch POST http:\S+\n {4}at /],
    ["a response that is being read", `(await fetch(streams)).text();`, /\n- reading the response of http:/],
    ["a timer", `setTimeout(() => {}, 60_000);`, /\n- setTimeout of 60000 ms\n {4}at Object\.run \(component\.js:/],
    ["an interval", `setInterval(() => {}, 50);`, /\n- setInterval of 50 ms\n/],
    ["a request of node:http", `require("http").get(hangs);`, /\n- GET http:\S+\n {4}at Object\.run \(component\.js:/],
    ["a connection that is not there yet", `require("net").connect(port, "127.0.0.1");`, /\n- connecting to 127\.0\.0\.1:\d+\n {4}at /],
    ["a WebSocket", `new WebSocket("ws://127.0.0.1:" + port);`, /\n- connecting to 127\.0\.0\.1:\d+\n {4}at /],
    ["a host name that is being resolved", `require("dns").lookup("localhost", () => {});`, /\n- dns\n/],
    ["a key that is being derived", `require("crypto").pbkdf2("a", "b", 100_000, 32, "sha256", () => {});`, /\n- crypto\.pbkdf2\n/],
  ])("%s", async (_, body, expected) => {
    const text = await warning(body);
    expect(text).toMatch(/^lost_work: the run ended while this was still under way, and it is dropped; await all promises in run:\n- /);
    expect(text).toMatch(expected);
    expect(text).not.toContain("sandbox:");
  });

  it("each call of an async forEach, and counts those beyond the list's limit", async () => {
    const text = await warning(`Array.from({ length: 14 }).forEach(async () => { await fetch(hangs); });`);
    expect(text.match(/\n- fetch GET /g)).toHaveLength(10);
    expect(text).toMatch(/\n- and 4 more$/);
  });

  it("the work without stacks when the component breaks stack formatting", async () => {
    const text = await warning(
      `Error.prepareStackTrace = () => { throw new Error("no stack"); }; Error.stackTraceLimit = 0; fetch(hangs);`,
    );
    expect(text).toMatch(/\n- fetch GET \S+$/);
  });
});

describe("a run does not warn", () => {
  it.each<readonly [string, string]>([
    [
      "when all is awaited",
      `await fetch(answers); await new Promise((done) => setTimeout(done, 1)); await new Promise((done) => setImmediate(done));`,
    ],
    ["of a method that only awaits values", `(async () => { for (let n = 0; n < 100; n++) await n; })();`],
    ["of an unread response", `await fetch(streams);`],
    [
      "of an aborted request",
      `const c = new AbortController(); const p = fetch(hangs, { signal: c.signal }).catch(() => {}); c.abort(); await p;`,
    ],
    [
      "of timers that were cleared or are not waited for",
      `clearTimeout(setTimeout(() => {}, 9)); setTimeout(() => {}, 9_000).unref(); AbortSignal.timeout(9_000);`,
    ],
    [
      "of a request of node:http that was answered",
      `await new Promise((done) => require("http").get(answers, (r) => r.resume().on("end", done)));`,
    ],
    [
      "of the time limit of such a request",
      `await new Promise((done) => require("http").get(answers, { timeout: 9_000 }, (r) => r.resume().on("end", done)));`,
    ],
    ["of a connection that is established", `await new Promise((done) => { require("net").connect(port, "127.0.0.1", done); });`],
    ["of a connection that is not waited for", `require("net").connect(port, "127.0.0.1").unref();`],
  ])("%s", async (_, body) => {
    const { outcome, logs } = ended(await run(body));
    expect([outcome, logs]).toEqual(["returned", []]);
  });

  it("when it threw: the error matters more", async () => {
    const ran = await run(`fetch(hangs); throw new Error("first");`);
    expect([errorOf(ran).message, ended(ran).logs]).toEqual(["first", []]);
  });

  it("of work of the previous run", async () => {
    const code = `export default { name: "c", run({ leaves }) { if (leaves) setTimeout(() => {}, 60_000); } };`;
    const counts = [];
    for (const leaves of [true, false])
      counts.push(ended(await fixture.run(code, { source: "dc_warm", event: JSON.stringify({ leaves }) })).logs.length);
    expect(counts).toEqual([1, 0]);
  });
});
