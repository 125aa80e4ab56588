import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patientMs } from "../sandbox-fixture.ts";
import { openRange } from "./attack-range.ts";
import { type HostileWebSocketServer, startHostileWebSocketServer } from "./hostile-websocket.ts";

const range = openRange();
let server: HostileWebSocketServer;
beforeAll(async () => {
  server = await startHostileWebSocketServer();
});
afterAll(() => server.stop());

describe("component inspections", () => {
  it("use their owner's permits, so that other owners' components are inspected in the meantime", async () => {
    const { sandbox, bundle } = range.fixture;
    const loops = await Promise.all(
      Array.from({ length: 6 }, (_, index) => bundle(`for (;;) globalThis.n = ${index}; export default { name: "loop", run() {} }`)),
    );
    const innocent = await bundle(`export default { name: "innocent", run() {} }`);
    const greedy = loops.map((one) => sandbox.inspect({ bundle: one, owner: "u_loops", timeoutMs: 1_000 }));
    const other = await sandbox.inspect({ bundle: innocent, owner: "u_innocent", timeoutMs: patientMs });
    expect(other).toMatchObject({ outcome: "read", definition: { name: "innocent" } });
    for (const one of await Promise.all(greedy)) expect(one).toMatchObject({ outcome: "rejected", code: "evaluation_timeout" });
  });
});

describe("work that a run started", () => {
  it("has no effect in the next run, whatever it waits for", async () => {
    const code = `let n = 0; const seen = []; const note = (what) => seen.push(what + n); let kept;
      export default { name: "l", async run(event) { n++;
        if (n === 2) { for (const use of [() => kept.socket.write("x"), () => kept.web.send("x"), () => kept.channel.postMessage(2)]) try { use(); } catch {} await new Promise((ok) => setTimeout(ok, 60)); return seen.filter((what) => what.endsWith("2")); }
        const socket = __builtin("net").connect(event, "127.0.0.1"); for (const k of ["connect", "close", "error", "data"]) socket.on(k, () => note(k));
        const web = new WebSocket("ws://127.0.0.1:" + event + "/messages"); web.onmessage = () => note("message"); web.onclose = () => note("closed"); web.onerror = () => note("failed");
        fetch("http://127.0.0.1:" + event).then(() => note("fetched"), () => note("refused")); __builtin("crypto").pbkdf2("p", "s", 1e5, 64, "sha512", () => note("derived")); __builtin("zlib").gzip(Buffer.alloc(5e6), () => note("zipped"));
        setTimeout(() => note("timer"), 1); setImmediate(() => note("immediate")); (async () => { for (;;) { await new Promise((ok) => setTimeout(ok, 1)); note("loop"); } })(); AbortSignal.timeout(5).onabort = () => note("aborted");
        const { port1, port2 } = new MessageChannel(); port1.onmessage = () => note("channel"); kept = { socket, web, channel: port2 }; } }`;
    const request = { source: "dc_began", event: String(server.port) };
    expect(await range.fixture.run(code, request)).toMatchObject({ outcome: "returned" });
    const second = await range.fixture.run(code, request);
    // A channel is the component's own: what is sent in this run arrives in it.
    expect(second).toMatchObject({ outcome: "returned", result: expect.stringMatching(/^\[("channel2")?\]$/) as string });
  });
});
