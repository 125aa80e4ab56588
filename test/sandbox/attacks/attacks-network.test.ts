import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRange } from "./attack-range.ts";
import { type HostileServer, startHostileServer } from "./hostile-server.ts";
import { errorOf, patientMs } from "../sandbox-fixture.ts";

/** Components that attack through the network, and servers that attack components; 127.0.0.0/8 is allowed, nothing else is. */
const range = openRange();
let server: HostileServer;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.stop());

const returned = async (body: string, timeoutMs = patientMs): Promise<unknown> => {
  const execution = await range.attack(body, {
    event: JSON.stringify(server.port),
    limits: { timeoutMs, memoryMb: 64 },
  });
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : errorOf(execution);
};

const get = (path: string): string =>
  `try { const r = await fetch("http://127.0.0.1:" + event + "${path}"); return [r.status, (await r.text()).slice(0, 400)]; } catch (e) { return e.cause?.code ?? e.code ?? e.message; }`;

describe("servers", () => {
  it.each([
    ["/http09", "HPE_INVALID_CONSTANT"],
    ["/garbage", "HPE_INVALID_CONSTANT"],
    ["/reset", "ECONNRESET"],
    ["/short", "ECONNRESET"],
    ["/long-header", "HPE_HEADER_OVERFLOW"],
    ["/control", "HPE_INVALID_HEADER_TOKEN"],
    ["/upgrade", "ERR_SANDBOX_UNSUPPORTED"],
    ["/extension", "ECONNRESET"],
    ["/bomb", "response_too_large"],
    ["/hollow", "response_too_large"],
    ["/to-itself", "ERR_TOO_MANY_REDIRECTS"],
    ["/to-file", "ERR_INVALID_PROTOCOL"],
    ["/to-metadata", "egress_denied"],
    ["/to-credentials", "ERR_INVALID_URL"],
    ["/to-nowhere", "ERR_INVALID_URL"],
    ["/prototype", [200, "x"]],
  ])("that answer %s are reported as such", async (path, result) => {
    expect(await returned(get(path))).toEqual(result);
  });

  it.each(["/slow-head", "/slow-body"])("that never finish end with the run: %s", async (path) => {
    expect(await returned(get(path), 400)).toMatchObject({ outcome: "limited", code: "run_timeout" });
  });

  it("of another origin receive no credentials of a redirected request", async () => {
    const [, request] = (await returned(
      `const r = await fetch("http://127.0.0.1:" + event + "/to-other", { method: "POST", body: "B", headers: { authorization: "A", cookie: "c=1", "x-keep": "1" } }); return [r.status, await r.text()];`,
    )) as [number, string];
    expect(request).toContain("x-keep: 1");
    expect(request).not.toMatch(/authorization|cookie/i);
  });
});

describe("private networks", () => {
  const hosts = [
    "169.254.169.254.",
    "[::ffff:a9fe:a9fe]",
    "[::]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "[fe80::1]",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "①⑥⑨.②⑤④.①⑥⑨.②⑤④",
    "169。254。169。254",
    "%31%36%39.254.169.254",
    "100.64.0.1",
    "192.0.0.192",
    "198.18.0.1",
    "255.255.255.255",
    "224.0.0.1",
    "168.63.129.16",
    "[0:0:0:0:0:ffff:10.0.0.1]",
    "[100::1]",
    "[ff02::1]",
    "[fc00::1]",
    "0",
  ];
  it.each(hosts)("are closed to fetch: %s", async (host) => {
    expect(await returned(`return await fetch("http://${host}/").then((r) => r.status, (e) => e.cause?.code ?? e.message)`)).toBe(
      "egress_denied",
    );
  });

  it.each(["169.254.169.254", "10.0.0.1", "::ffff:10.0.0.1", "::1", "fe80::1%1", "0"])(
    "are closed to sockets and TLS: %s",
    async (host) => {
      const body = `const out = []; for (const name of ["net", "tls"]) out.push(await new Promise((ok) => { const s = __builtin(name).connect({ host: ${JSON.stringify(host)}, port: 443 }); s.on("connect", () => ok("open")); s.on("error", (e) => ok(e.code)); })); return out;`;
      expect(await returned(body)).toEqual(["egress_denied", "egress_denied"]);
    },
  );

  it.each([
    ["_https._tcp.kubernetes.default.svc.cluster.local", "SRV"],
    ["1.0.0.10.in-addr.arpa", "PTR"],
    [`${"1.".repeat(31)}f.ip6.arpa`, "PTR"],
    ["router.lan.", "TXT"],
    ["X.LOCAL", "NS"],
    ["db", "MX"],
    ["metadata.google.internal", "CNAME"],
    ["_https._tcp.kubernetes.default.svc.cluster。local", "SRV"],
    ["a.router．ｌａｎ", "TXT"],
    ["a.ⓡouter.ⓛan", "MX"],
    ["a.router.l\u00adan", "TXT"],
    ["a.router.LOCAL。", "NS"],
    ["1。0.0.10.in-addr.arpa", "PTR"],
  ])("do not reveal names: %s %s", async (name, type) => {
    expect(
      await returned(`return await __builtin("dns").promises.resolve("${name}", "${type}").then(() => "resolved", (e) => e.code)`),
    ).toBe("egress_denied");
  });
});

describe("names in other spellings", () => {
  it.each(["a.router.\\\\108an", "a.router\\\\.lan", "a.router.lan\\\\000.example.com", "a..lan", "a b.example.com", "a.router.lan/x"])(
    "are none: %s",
    async (name) => {
      const body = `return await __builtin("dns").promises.resolve("${name}", "TXT").then(() => "resolved", (e) => e.code)`;
      expect(await returned(body)).toBe("EBADNAME");
    },
  );
});

describe("requests", () => {
  it("cannot smuggle header lines or set their own framing", async () => {
    const headers = await returned(
      `const out = []; for (const h of [{ "x\\r\\ny": "1" }, { x: "a\\r\\nb: c" }, { "": "x" }]) out.push(await fetch("http://127.0.0.1:" + event + "/echo", { headers: h }).then(() => "sent", (e) => e.name)); return out;`,
    );
    expect(headers).toEqual(["TypeError", "TypeError", "TypeError"]);
    const framed = await returned(
      `return await (await fetch("http://127.0.0.1:" + event + "/echo", { headers: { host: "evil", "transfer-encoding": "chunked", "content-length": "1", connection: "x" } })).text()`,
    );
    expect(framed).not.toMatch(/evil|transfer-encoding|content-length|connection: x/i);
  });

  it.each([
    `{ path: "/a b" }`,
    `{ path: "/a\\r\\nx: y" }`,
    `{ method: "GET\\r\\nX" }`,
    `{ headers: { x: "a\\nb" } }`,
    `{ socketPath: "/var/run/docker.sock" }`,
    `{ host: "127.0.0.1\\r\\nx" }`,
  ])("of node:http are refused: %s", async (options) => {
    const body = `return await new Promise((ok) => { try { const r = __builtin("http").request({ host: "127.0.0.1", port: event, path: "/echo", ...${options} }, () => ok("sent")); r.on("error", (e) => ok(e.code)); r.end(); } catch (e) { ok(e.code); } })`;
    expect(await returned(body)).toMatch(/^ERR_/);
  });

  it("in thousands are queued, and end with the run", async () => {
    expect(
      await returned(
        `return (await Promise.allSettled(Array.from({ length: 2000 }, () => fetch("http://127.0.0.1:" + event + "/slow-head")))).length`,
        1_500,
      ),
    ).toMatchObject({ outcome: "limited" });
    expect(
      await returned(
        `const net = __builtin("net"); for (let i = 0; i < 2000; i++) net.connect(event, "127.0.0.1").on("error", () => {}); await new Promise((ok) => setTimeout(ok, 100)); return 1;`,
      ),
    ).toBe(1);
  });

  it("over TLS with invalid keys, or to servers that hang up, fail with an error", async () => {
    const body = `const out = []; for (const options of [{}, { key: "x", cert: "y", ca: ["z"] }]) out.push(await new Promise((ok) => { const r = __builtin("https").request({ host: "127.0.0.1", port: event, ...options }, () => ok("sent")); r.on("error", (e) => ok(e.code)); r.end(); }));
      const plain = __builtin("net").connect(event, "127.0.0.1"); plain.on("error", () => {}); out.push(await new Promise((ok) => __builtin("tls").connect({ socket: plain }).on("error", (e) => ok(e.code)))); return out;`;
    expect(await returned(body)).toEqual([
      expect.stringMatching(/^(ECONNRESET|ERR_SSL_)/),
      "ERR_OSSL_PEM_NO_START_LINE",
      expect.stringMatching(/^(ECONNRESET|ERR_SSL_)/),
    ]);
  });

  it("over TLS refuse custom Diffie-Hellman groups, with which one handshake takes seconds", async () => {
    const hellos: Buffer[] = [];
    const listener = createServer((socket) =>
      socket.on("error", () => {}).once("data", (hello) => socket.end(void hellos.push(Buffer.from(hello)))),
    );
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as AddressInfo;
    const body = `const o = { host: "127.0.0.1", port: ${port} }; for (const make of [() => __builtin("tls").connect(o), () => __builtin("https").get(o), () => __builtin("https").get({ ...o, ca: "x" })]) await new Promise((ok) => make().on("error", ok).on("close", ok)); return 1;`;
    expect(await returned(body)).toBe(1);
    listener.close();
    expect(hellos).toHaveLength(3);
    const finiteFields = new Set([0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa, 0xc09e, 0xc09f]);
    for (const hello of hellos) {
      const offered = ciphersOf(hello);
      expect(offered.length).toBeGreaterThan(5);
      expect(offered.filter((cipher) => finiteFields.has(cipher))).toEqual([]);
    }
  });
});

/** ClientHello: record and handshake headers, version, random, session id, then the ciphers (RFC 8446, 4.1.2). */
function ciphersOf(hello: Buffer): number[] {
  const session = 5 + 4 + 2 + 32;
  const start = session + 1 + (hello[session] ?? 0);
  const bytes = hello.readUInt16BE(start);
  return Array.from({ length: bytes / 2 }, (_, index) => hello.readUInt16BE(start + 2 + 2 * index));
}
