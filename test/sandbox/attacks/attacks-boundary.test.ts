import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRange } from "./attack-range.ts";
import { type Attack, attackTable } from "./attack-table.ts";
import { type HostileWebSocketServer, startHostileWebSocketServer } from "./hostile-websocket.ts";

/** What crosses the wall of the isolate: texts that weigh nothing until they are copied, intrinsics replaced while the host is asked, frames of WebSockets. */
const range = openRange();
let server: HostileWebSocketServer;
beforeAll(async () => {
  server = await startHostileWebSocketServer();
});
afterAll(() => server.stop());
const event = (): string => JSON.stringify(server.port);

/** V8 stores a concatenated string as a rope: 256 MB take a kilobyte until the string is flattened. */
const rope = `let s = "x"; for (let i = 0; i < 28; i++) s += s;`;
const whole = /^(limited:(memory_limit|run_timeout|emit_too_large|bridge_limit)|threw:|returned:)/;
attackTable(
  "texts that are made whole when they cross",
  range,
  [
    ["in the log", `${rope} console.log(s); return 1`, whole],
    ["as an event", `${rope} this.$emit(s)`, whole],
    ["as a summary", `${rope} this.$emit(1, { summary: s })`, whole],
    ["as a channel", `${rope} this.$emit(1, { name: s })`, /^threw:TypeError: emit 1 of this run: its name/],
    ["as a key of the db", `${rope} this.db.set(s, 1)`, /^threw:RangeError: an argument has more than \d+ bytes/],
    ["as a response", `${rope} this.http.respond({ status: 200, body: s })`, whole],
    ["as an error", `${rope} throw Object.assign(new Error(s), { name: s, code: s, stack: s })`, whole],
    ["as a result", `${rope} return s`, whole],
    ["as names", `${rope} try { await __builtin("dns").promises.lookup(s); } catch (e) { return e.name; }`, whole],
    [
      "as four hundred megabytes for a socket",
      `const s = __builtin("net").connect(event, "127.0.0.1"); await new Promise((ok) => s.on("connect", ok)); s.write(Buffer.alloc(4e8)); return 1;`,
      whole,
    ],
  ],
  { isSampled: true, event, timeoutMs: 1_500 },
);

const opened = (path: string): string =>
  `return await new Promise((ok) => { const w = new WebSocket("ws://127.0.0.1:" + event + "${path}"); w.onerror = (e) => ok(e.message); w.onclose = () => ok("closed"); });`;
const frames = (path: string, outcome: RegExp): Attack => [path.slice(1), opened(path), outcome];
attackTable(
  "servers of WebSockets",
  range,
  [
    frames("/huge", /^returned:"a message is larger than 33554432 bytes/),
    frames("/negative", /^returned:"a message is larger than 33554432 bytes/),
    frames("/parts", /^(returned:"|limited:(run_timeout|memory_limit))/),
    frames("/empty-parts", /^limited:(run_timeout|memory_limit)/),
    frames("/parts-again", /^returned:"the server sent frames out of order"/),
    frames("/pings", /^limited:(run_timeout|cpu_limit|bridge_limit)/),
    frames("/messages", /^limited:(run_timeout|cpu_limit)/),
    frames("/compressed", /^returned:"the server sent a frame that is compressed or masked"/),
    frames("/masked", /^returned:"the server sent a frame that is compressed or masked"/),
    frames("/broken-text", /^returned:"The encoded data was not valid/),
    frames("/silent", /^limited:run_timeout/),
    [
      "private addresses",
      `const out = []; for (const host of ["10.0.0.1", "[::ffff:10.0.0.1]", "0xa000001", "169.254.169.254."]) out.push(await new Promise((ok) => { const w = new WebSocket("ws://" + host + "/"); w.onopen = () => ok("open"); w.onerror = (e) => ok(/denied/.test(e.message)); })); return out;`,
      /^returned:\[true,true,true,true\]$/,
    ],
  ],
  { isSampled: true, event, timeoutMs: 1_200 },
);

const speak = `this.$emit({ a: [1] }); this.db.set("k", [1]); console.log("x", [1]); await new Promise((ok) => setTimeout(ok, 2));`;
const own = /^(returned|threw|limited):/;
attackTable(
  "intrinsics that are replaced while the host is asked",
  range,
  [
    ["iterators of arrays", `Array.prototype[Symbol.iterator] = function* () { yield "no"; }; ${speak} return 1`, own],
    [
      "what promises do next",
      `const { then } = Promise.prototype; const seen = []; Promise.prototype.then = function (...all) { seen.push(1); return then.apply(this, all); }; await fetch("http://127.0.0.1:1/").catch(() => {}); ${speak} return 1`,
      own,
    ],
    [
      "call, apply, bind",
      `for (const k of ["call", "apply", "bind"]) Function.prototype[k] = () => { throw new Error(k); }; Reflect.apply = () => { throw 1; }; ${speak} return 1`,
      /^returned:1$/,
    ],
    ["JSON", `JSON.stringify = () => "no"; JSON.parse = () => { for (;;); }; ${speak} return { a: 1 }`, /^returned:\{"a":1\}$/],
    [
      "members of every object, by number",
      `for (let i = 0; i < 300; i++) Object.defineProperty(Object.prototype, i, { configurable: true, set() { globalThis.leaked = true; } }); try { ${speak} } catch {} return globalThis.leaked === true ? "heard" : "nothing"`,
      own,
    ],
    ["descriptors", `Object.prototype.get = () => 5; ${speak} return 1`, own],
    [
      "the prototype of the global object",
      `Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get(_, k) { if (k === "x") for (;;); } })); ${speak} return 1`,
      own,
    ],
    [
      "views of bytes",
      `const typed = Object.getPrototypeOf(Uint8Array.prototype); for (const k of ["length", "buffer", "byteLength"]) Object.defineProperty(typed, k, { get() { return 2 ** 40; } }); return __builtin("crypto").createHash("sha256").update("x").digest("hex").length`,
      own,
    ],
    [
      "the stack, which ends in each call of the host",
      `const zlib = __builtin("zlib"); let n = 0; const f = () => { n++; try { f(); } catch (e) { if (n-- > 5_000) try { zlib.gzipSync("x"); } catch {} throw e; } }; try { f(); } catch {} return 1`,
      own,
    ],
  ],
  { isSampled: true, timeoutMs: 1_000 },
);

/** V8 does not ask whether it should stop while it does these: they may cost the process, and then count against their source. */
const late = /^limited:(run_timeout|cpu_limit|memory_limit)/;
attackTable(
  "what is interrupted late or never, again",
  range,
  [
    ["sorting an array of holes", `const a = []; a.length = 2 ** 31; a.sort();`, late],
    ["reversing an array of holes", `Array.prototype.reverse.call({ length: 2 ** 53 - 1 });`, late],
    ["searching an array of holes", `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);`, late],
    ["the last element of an array of holes", `const s = "a".repeat(1e6); for (;;) (s + s).lastIndexOf("a".repeat(5e5) + "b");`, late],
    ["digits of huge integers", `(2n ** 50000000n).toString().length;`, late],
  ],
  { isSampled: true, timeoutMs: 700, costsProcess: true },
);

describe("component inspections", () => {
  it("use their owner's permits, so that other owners' components are inspected in the meantime", async () => {
    const { sandbox, bundle } = range.fixture;
    const loops = await Promise.all(
      Array.from({ length: 6 }, (_, index) => bundle(`for (;;) globalThis.n = ${index}; export default { name: "loop", run() {} }`)),
    );
    const innocent = await bundle(`export default { name: "innocent", run() {} }`);
    const greedy = loops.map((one) => sandbox.inspect({ bundle: one, owner: "u_loops", timeoutMs: 8_000 }));
    const other = await sandbox.inspect({ bundle: innocent, owner: "u_innocent", timeoutMs: 8_000 });
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
    const request = { source: "dc_began", event: event() };
    expect(await range.fixture.run(code, request)).toMatchObject({ outcome: "returned" });
    const second = await range.fixture.run(code, request);
    // A channel is the component's own: what is sent in this run arrives in it.
    expect(second).toMatchObject({ outcome: "returned", result: expect.stringMatching(/^\[("channel2")?\]$/) as string });
  });
});
