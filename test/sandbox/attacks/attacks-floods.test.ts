import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { sampleCases } from "../../support/soak.ts";
import { openRange } from "./attack-range.ts";
import { type HostileWebSocketServer, startHostileWebSocketServer } from "./hostile-websocket.ts";
import { requestFor } from "../sandbox-fixture.ts";

/** Requests to the host in masses, most of them refused. What a refusal costs the host must not grow with their number. */
const range = openRange();
let server: HostileWebSocketServer;
beforeAll(async () => {
  server = await startHostileWebSocketServer();
});
afterAll(() => server.stop());

/** A flood held up the process for 3 to 6 s, and ended it when it was silent for 5. */
const maxAnswerMs = 2_500;

/** Ms until a neighbour in the same process has answered. */
async function neighbour(): Promise<number> {
  const bundle = await range.fixture.bundle(`export default { name: "neighbour", run: (n) => n + 1 }`);
  const request = requestFor(bundle, { source: "dc_near", owner: "u_near", event: "1", limits: { timeoutMs: 20_000, memoryMb: 64 } });
  const startedAt = performance.now();
  expect(await range.fixture.sandbox.execute(request)).toMatchObject({ outcome: "returned", result: "2" });
  return performance.now() - startedAt;
}

async function maxAnswerMsDuring(attack: Promise<Execution>): Promise<number> {
  let isOver = false;
  const ended = attack.finally(() => (isOver = true));
  const answers: number[] = [];
  while (!isOver) {
    answers.push(await neighbour());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await ended;
  return Math.max(...answers);
}

const limits = { timeoutMs: 12_000, memoryMb: 256 };
const pause = `await new Promise((ok) => setTimeout(ok, 100)); return 1;`;
const times = (count: number, body: string): string => `for (let i = 0; i < ${count}; i++) { ${body} }`;
const net = `const net = __builtin("net");`;

describe("a hundred thousand requests of one run", () => {
  it.each(
    sampleCases<[string, string]>(
      [
        ["sockets to a private address", `${net} ${times(1e5, `net.connect(80, "10.0.0.1").on("error", () => {});`)} ${pause}`],
        ["sockets without an answer", `${net} ${times(1e5, `net.connect(1, "127.0.0.1").on("error", () => {});`)} ${pause}`],
        ["sockets one after the other", `${net} ${times(1e5, `await new Promise((ok) => net.connect(80, "10.0.0.1").on("error", ok));`)}`],
        ["fetches of a private address", `${times(1e5, `fetch("http://10.0.0.1/").catch(() => {});`)} ${pause}`],
        ["names", `const { lookup } = __builtin("dns").promises; ${times(1e5, `lookup("10.0.0.1").catch(() => {});`)} ${pause}`],
        ["unknown digests", `${times(1e5, `crypto.subtle.digest("no", new Uint8Array(1)).catch(() => {});`)} ${pause}`],
        ["invalid archives", `const zlib = __builtin("zlib"); ${times(1e5, `zlib.gunzip("x", () => {});`)} ${pause}`],
        ["timers that are cleared", times(1e5, `clearTimeout(setTimeout(() => {}, 1000));`)],
        ["lines of the log, and values of the db", times(5e4, `console.log(i); this.db.set("k", i); this.db.get("k");`)],
        [
          "frames of a WebSocket",
          `const s = new WebSocket("ws://127.0.0.1:" + event + "/silent"); await new Promise((ok) => (s.onopen = ok)); ${times(1e5, `s.send("x");`)} ${pause}`,
        ],
      ],
      4,
    ),
  )("does not keep a neighbour waiting: %s", async (_, body) => {
    const attack = range.attack(body, { owner: "u_flood", event: String(server.port), limits });
    expect(await maxAnswerMsDuring(attack)).toBeLessThan(maxAnswerMs);
    expect((await attack).outcome).not.toBe("crashed");
  });
});

describe("synchronous work of seconds", () => {
  it.each(
    sampleCases<[string, string]>(
      [
        ["keys from passwords", `__builtin("crypto").pbkdf2Sync("p", "s", 2e6, 20, "sha512"); return 1;`],
        ["keys that take memory", `__builtin("crypto").scryptSync("p", "s", 64, { N: 2 ** 17, r: 8, maxmem: 2 ** 30 }); return 1;`],
        ["key pairs", `__builtin("crypto").generateKeyPairSync("rsa", { modulusLength: 4096 }); return 1;`],
        ["compression at its best", `__builtin("zlib").brotliCompressSync(Buffer.alloc(16e6, "abc").fill("x", 0, 1e6)); return 1;`],
      ],
      4,
    ),
  )("is done by the thread pool while a neighbour is answered: %s", async (_, body) => {
    const attack = range.attack(body, { owner: "u_work", limits });
    // On the host's thread each took about two seconds.
    expect(await maxAnswerMsDuring(attack)).toBeLessThan(1_200);
    expect((await attack).outcome).not.toBe("crashed");
  });
});

describe("refused by the guest itself", () => {
  it("more than 2,000 pending calls", async () => {
    const run = await range.attack(
      `const all = await Promise.allSettled(Array.from({ length: 3000 }, () => crypto.subtle.digest("SHA-1", new Uint8Array(1)))); const refused = all.filter((x) => x.status === "rejected"); return [refused.length, refused[0].reason.code, refused[0].reason.message];`,
      { limits },
    );
    const result = run.outcome === "returned" ? (JSON.parse(run.result ?? "null") as unknown) : run;
    expect(result).toEqual([1000, "bridge_limit", "more than 2000 requests are in flight, the limit of a run"]);
  });

  it("all connections and calls after 1,000 refusals, and only in that run", async () => {
    const body = `const codes = {}; for (let i = 0; i < 1100; i++) await fetch("http://10.0.0.1/").catch(({ cause }) => { codes[cause.code] = (codes[cause.code] ?? 0) + 1; }); codes.socket = await new Promise((ok) => __builtin("net").connect(${server.port}, "127.0.0.1").on("error", (e) => ok(e.code)).on("connect", () => ok("open"))); return codes;`;
    const request = { source: "dc_refused", owner: "u_refused", limits };
    for (let runs = 0; runs < 2; runs++) {
      const run = await range.attack(body, request);
      const result = run.outcome === "returned" ? (JSON.parse(run.result ?? "null") as unknown) : run;
      expect(result).toEqual({ egress_denied: 1000, limit_exceeded: 100, socket: "limit_exceeded" });
    }
  });

  it("BigInts, which would be copied whole although they have no weight", async () => {
    const run = await range.attack(
      `try { __builtin("crypto").createHash("sha256", { outputLength: 2n ** 8000000n }).digest(); } catch (e) { return e.message; }`,
      { limits },
    );
    expect(run).toMatchObject({ outcome: "returned", result: `"a bigint cannot be given to the host"` });
  });
});
