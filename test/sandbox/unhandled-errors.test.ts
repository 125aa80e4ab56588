import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emitted, ended, errorOf, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** What nothing in a component handles ends its run with that error, as it would end a process of Node's. */
let fixture: SandboxFixture;
let port = 0;
const server = createServer((_, response) => void response.end("answer"));

beforeAll(async () => {
  fixture = await shareSandbox();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await fixture.stop();
  server.close();
});

const run = (body: string) =>
  fixture.run(
    `const wait = (ms) => new Promise((done) => setTimeout(done, ms));
     export default { name: "c", async run({ port, url }) { ${body} } };`,
    { event: JSON.stringify({ port, url: `http://127.0.0.1:${port}/` }) },
  );

describe("an error ends the run when it is thrown in", () => {
  it.each<readonly [string, string]>([
    ["a timer", `setTimeout(() => { throw new RangeError("lost"); }, 1); await wait(1_000);`],
    [
      "the second call of an interval",
      `let n = 0; setInterval(() => { if (++n === 2) throw new RangeError("lost"); }, 1); await wait(1_000);`,
    ],
    ["an immediate", `setImmediate(() => { throw new RangeError("lost"); }); await wait(1_000);`],
    ["a tick", `await 0; process.nextTick(() => { throw new RangeError("lost"); }); await wait(1_000);`],
    ["a tick of the last entry", `process.nextTick(() => { throw new RangeError("lost"); });`],
    ["a microtask", `queueMicrotask(() => { throw new RangeError("lost"); });`],
    [
      "a listener of an event emitter",
      `const { EventEmitter } = require("events"); const emitter = new EventEmitter().on("x", () => { throw new RangeError("lost"); });
       setTimeout(() => emitter.emit("x"), 1); await wait(1_000);`,
    ],
    [
      "a listener of an event target",
      `const t = new EventTarget(); t.addEventListener("x", () => { throw new RangeError("lost"); }); t.dispatchEvent(new Event("x"));`,
    ],
    [
      "a listener of an abort signal",
      `AbortSignal.timeout(5).addEventListener("abort", () => { throw new RangeError("lost"); }); await wait(1_000);`,
    ],
    [
      "a message port",
      `const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { throw new RangeError("lost"); }; port1.postMessage(1); await wait(1_000);`,
    ],
    ["a callback of a socket", `require("net").connect(port, "127.0.0.1", () => { throw new RangeError("lost"); }); await wait(1_000);`],
    [
      "a listener of a response",
      `require("http").get(url, (response) => response.on("data", () => { throw new RangeError("lost"); })); await wait(1_000);`,
    ],
    ["a callback of zlib", `require("zlib").gzip("x", () => { throw new RangeError("lost"); }); await wait(1_000);`],
    ["a callback of fs", `require("fs").readFile("/nothing", () => { throw new RangeError("lost"); }); await wait(1_000);`],
  ])("%s", async (_, body) => {
    expect(errorOf(await run(body))).toMatchObject({ outcome: "threw", name: "RangeError", message: "lost" });
  });

  it.each<readonly [string, string, string]>([
    ["a socket", `require("net").connect(1, "127.0.0.1"); await wait(1_000);`, "ECONNREFUSED"],
    ["a request", `require("http").get("http://127.0.0.1:1/"); await wait(1_000);`, "ECONNREFUSED"],
    [
      "a stream",
      `const { Readable } = require("stream"); new Readable({ read() { this.destroy(new Error("broken")); } }).resume();`,
      "broken",
    ],
  ])("or when an error event of %s has no listener", async (_, body, message) => {
    expect(errorOf(await run(body))).toMatchObject({ outcome: "threw", message: expect.stringContaining(message) as string });
  });
});

describe("a rejected promise that nothing handles", () => {
  it.each<readonly [string, string]>([
    ["ends a run that returns in the same entry", `Promise.reject(new RangeError("lost"));`],
    [
      "ends it when it is rejected after run has returned",
      `(async () => { for (let n = 0; n < 100; n++) await n; throw new RangeError("lost"); })();`,
    ],
    ["ends it in an async forEach", `[1, 2].forEach(async () => { throw new RangeError("lost"); });`],
    ["ends a run that goes on waiting", `Promise.reject(new RangeError("lost")); await wait(1_000);`],
    [
      "ends the run though it is handled in a later entry",
      `const p = Promise.reject(new RangeError("lost")); await wait(1); await p.catch(() => {});`,
    ],
  ])("%s", async (_, body) => {
    const ran = await run(`this.$emit("kept"); ${body}`);
    expect(errorOf(ran)).toMatchObject({ outcome: "threw", name: "RangeError", message: "lost" });
    expect(errorOf(ran).stack).toMatch(/component\.js:\d+/);
    expect(emitted(ran)).toEqual(["kept"]);
  });

  it.each<readonly [string, string]>([
    ["a text", `Promise.reject("too late")`],
    ["nothing", `Promise.reject()`],
    ["an object", `Promise.reject({ status: 500 })`],
  ])("is described when its reason is %s", async (_, body) => {
    const { outcome, name, message } = errorOf(await run(body));
    expect([outcome, name]).toEqual(["threw", "UnhandledRejection"]);
    expect(message).toMatch(/^a promise was rejected with ("too late"|undefined|an object that is not an Error), and nothing handles it$/);
  });

  it("is no error when it is handled before the entry is over", async () => {
    const ran = await run(`const p = Promise.reject(new Error("handled")); await 0; await 0; await p.catch(() => {}); return 1;`);
    expect([ran.outcome, ended(ran).logs]).toEqual(["returned", []]);
  });

  it("does not change the next run of the source", async () => {
    const code = `export default { name: "c", run({ rejects }) { if (rejects) Promise.reject(new Error("once")); return 1; } };`;
    const outcomes = [];
    for (const rejects of [true, false])
      outcomes.push((await fixture.run(code, { source: "dc_again", event: JSON.stringify({ rejects }) })).outcome);
    expect(outcomes).toEqual(["threw", "returned"]);
  });
});
