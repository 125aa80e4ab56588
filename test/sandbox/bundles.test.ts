import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emitted, errorOf, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** Components as people write them, bundled with real packages, against a server on loopback. */
let fixture: SandboxFixture;
let server: Server;
let url: string;
beforeAll(async () => {
  fixture = await shareSandbox();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/slow") return;
      if (request.url === "/large") return response.end(Buffer.alloc(1_000_000, "x"));
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          method: request.method,
          url: request.url,
          header: request.headers["x-a"],
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.stop();
});

async function emits(body: string, imports = ""): Promise<unknown[]> {
  const execution = await fixture.run(`${imports}\nexport default { name: "c", async run(event) { ${body} } }`, {
    event: JSON.stringify({ url }),
  });
  if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution)));
  return emitted(execution);
}

describe("the web platform", () => {
  it("fetches JSON", async () => {
    const body = `const response = await fetch(event.url + "/a?b=1", { method: "POST", headers: { "x-a": "1" }, body: JSON.stringify({ c: 2 }) }); this.$emit([response.status, await response.json()]);`;
    expect(await emits(body)).toEqual([[200, { method: "POST", url: "/a?b=1", header: "1", body: `{"c":2}` }]]);
  });

  it("reads large bodies, and gives up on a signal", async () => {
    expect(await emits(`this.$emit((await (await fetch(event.url + "/large")).arrayBuffer()).byteLength);`)).toEqual([1_000_000]);
    expect(
      await emits(`try { await fetch(event.url + "/slow", { signal: AbortSignal.timeout(50) }); } catch (e) { this.$emit(e.name); }`),
    ).toEqual(["TimeoutError"]);
  });

  it("fetches while the module loads, for runs to await", async () => {
    const code = `const early = fetch(${JSON.stringify(url)} + "/early").then((r) => r.json()); export default { name: "c", async run() { this.$emit((await early).url); } }`;
    expect(emitted(await fixture.run(code))).toEqual(["/early"]);
    const late = `fetch(${JSON.stringify(url)} + "/slow").catch(() => {}); export default { name: "c", run() { this.$emit(1); } }`;
    expect(emitted(await fixture.run(late))).toEqual([1]);
  });

  it("waits for several requests at once", async () => {
    expect(
      await emits(
        `const all = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(event.url + "/" + i).then((r) => r.json()))); this.$emit(all.map((a) => a.url).join(""));`,
      ),
    ).toEqual([Array.from({ length: 20 }, (_, i) => `/${i}`).join("")]);
  });

  it("gives its classes their standard names", async () => {
    expect(
      await emits(
        `this.$emit([URL, URLSearchParams, Headers, Response, Request, Blob, TextDecoder, AbortController].map((c) => c.name).join(" "));`,
      ),
    ).toEqual(["URL URLSearchParams Headers Response Request Blob TextDecoder AbortController"]);
  });
});

describe("the Node layer", () => {
  it("has Buffer, crypto, path, util and events", async () => {
    const imports = `import { createHash, createHmac, randomUUID } from "node:crypto"; import path from "path"; import { inspect, promisify } from "util"; import EventEmitter from "node:events";`;
    const body = `const hash = createHash("sha256").update("x").digest("hex"); const hmac = createHmac("sha256", "k").update(Buffer.from("é")).digest("base64");
      const emitter = new EventEmitter(); const heard = []; emitter.on("a", (x) => heard.push(x)); emitter.emit("a", 1);
      this.$emit([hash.slice(0, 8), hmac.length, randomUUID().length, path.join("a", "..", "b"), inspect({ a: 1 }), Buffer.from("aGk", "base64url").toString(), heard, await promisify((x, cb) => cb(null, x))(3)]);`;
    expect(await emits(body, imports)).toEqual([["2d711642", 44, 36, "b", "{ a: 1 }", "hi", [1], 3]]);
  });

  it("makes requests by node:http", async () => {
    const body = `const answer = await new Promise((resolve, reject) => { const r = request(event.url + "/n", { method: "PUT", headers: { "x-a": "2" } }, (response) => { let text = ""; response.setEncoding("utf8"); response.on("data", (c) => { text += c; }); response.on("end", () => resolve(JSON.parse(text))); }); r.on("error", reject); r.end("body"); }); this.$emit(answer);`;
    expect(await emits(body, `import { request } from "http";`)).toEqual([{ method: "PUT", url: "/n", header: "2", body: "body" }]);
  });

  it("has only the environment of the run", async () => {
    expect(await emits(`this.$emit(process.env);`)).toEqual([{ PD_COMPONENT: "dc_1" }]);
  });

  it("leaves no name of the sandbox except those that bundles call", async () => {
    expect(
      await emits(`Buffer; this.$emit(Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith("__")).sort());`),
    ).toEqual([["__builtin", "__register"]]);
  });
});

describe("packages", () => {
  it("run: qs, yaml, nanoid", async () => {
    const imports = `import qs from "qs"; import { parse } from "yaml"; import { customAlphabet } from "nanoid";`;
    expect(await emits(`this.$emit([qs.stringify({ a: [1, 2] }), parse("a: [1, {b: c}]"), customAlphabet("x", 5)()]);`, imports)).toEqual([
      ["a%5B0%5D=1&a%5B1%5D=2", { a: [1, { b: "c" }] }, "xxxxx"],
    ]);
  });
});
