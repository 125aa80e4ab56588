import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRange } from "./attack-range.ts";
import { type HostileWebSocketServer, startHostileWebSocketServer } from "./hostile-websocket.ts";

const range = openRange();
let server: HostileWebSocketServer;
beforeAll(async () => {
  server = await startHostileWebSocketServer();
});
afterAll(() => server.stop());

const limits = { memoryMb: 256 };

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
