import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evaluateInNode, startSnippets } from "../web-support.ts";
import type { Snippets } from "../web-support.ts";
import { withSnippetServers } from "./snippet-servers.ts";

const net = withSnippetServers();

const asInNode = {
  "a JSON answer": `const r = await fetch(base + "/echo?x=1"); return [r.status, r.ok, r.statusText, r.url.slice(base.length), r.redirected, r.type, r.headers.get("x-multi"), r.headers.getSetCookie(), (await r.json()).method, r.bodyUsed];`,
  "a posted string": `const r = await fetch(base + "/echo", { method: "POST", body: "h\u00e9", headers: { "X-Own": "v" } }); const b = await r.json(); return [b.method, b.body, b.headers["content-type"], b.headers["content-length"], b.headers["x-own"]];`,
  "posted bytes, blobs and parameters": `const out = []; for (const body of [new Uint8Array([104, 105]), new Blob(["b"], { type: "x/y" }), new URLSearchParams({ a: "1 2" })]) { const b = await (await fetch(base + "/echo", { method: "PUT", body })).json(); out.push([b.body, b.headers["content-type"]]); } return out;`,
  "a streamed request": `const body = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("ab")); c.enqueue(new TextEncoder().encode("cd")); c.close(); } }); const b = await (await fetch(base + "/echo", { method: "POST", body, duplex: "half" })).json(); return b.body;`,
  "a form": `const f = new FormData(); f.append("a", "1"); f.append("f", new File(["xyz"], "n.txt", { type: "text/plain" })); const b = await (await fetch(base + "/echo", { method: "POST", body: f })).json(); return [b.body.includes('name="a"'), b.body.includes('filename="n.txt"'), /^multipart\\/form-data; boundary=/.test(b.headers["content-type"])];`,
  "an empty post": `const b = await (await fetch(base + "/echo", { method: "POST" })).json(); return [b.headers["content-length"], b.headers.accept];`,
  chunks: `return (await fetch(base + "/chunked")).text();`,
  "a slow body": `const r = await fetch(base + "/slow"); let t = "", n = 0; for await (const c of r.body) { t += new TextDecoder().decode(c); n++; } return [t, n];`,
  "statuses without a body": `return Promise.all([204, 304].map(async (code) => { const r = await fetch(base + "/status?code=" + code); return [r.status, r.body, await r.text()]; }));`,
  "errors of the server": `const r = await fetch(base + "/status?code=503&body=down"); return [r.ok, r.status, await r.text()];`,
  HEAD: `const r = await fetch(base + "/echo", { method: "HEAD" }); return [r.status, await r.text()];`,
  "content codings": `return Promise.all(["gzip", "deflate", "raw", "br", "gzip, br", "identity", "klingon"].map(async (c) => { const r = await fetch(base + "/encoded?coding=" + c); return [c, r.headers.get("content-encoding"), (await r.text()).length]; }));`,
  redirects: `return Promise.all([301, 302, 303, 307, 308].map(async (code) => { const r = await fetch(base + "/redirect?code=" + code, { method: "POST", body: "x", headers: { "content-type": "text/a" } }); const b = await r.json(); return [code, r.redirected, r.url.slice(base.length), b.method, b.body, b.headers["content-type"] ?? null]; }));`,
  "redirects by hand": `const r = await fetch(base + "/redirect", { redirect: "manual" }); return [r.status, r.headers.get("location"), r.type, await r.text()];`,
  "forbidden redirects": `try { await fetch(base + "/redirect", { redirect: "error" }); } catch (e) { return [e.name, e.message, e instanceof TypeError, e.cause.message]; }`,
  "endless redirects": `try { await fetch(base + "/loop"); } catch (e) { return [e.name, e.message]; }`,
  "credentials over origins": `const h = { authorization: "Bearer x", cookie: "c=1", "x-keep": "y" }; const same = await (await fetch(base + "/redirect", { headers: h })).json(); const other = await (await fetch(base + "/redirect?to={other}/echo", { headers: h })).json(); return [same, other].map((b) => [b.headers.authorization ?? null, b.headers.cookie ?? null, b.headers["x-keep"]]);`,
  "a refused connection": `try { await fetch(closed); } catch (e) { return [e.name, e.message, e.cause.code, e.cause.message]; }`,
  "aborting before": `try { await fetch(base + "/echo", { signal: AbortSignal.abort() }); } catch (e) { return [e.name, e.code]; }`,
  "aborting during": `const c = new AbortController(); setTimeout(() => c.abort(new RangeError("mine")), 30); try { await fetch(base + "/never", { signal: c.signal }); } catch (e) { return [e.name, e.message]; }`,
  "a timeout": `try { await fetch(base + "/never", { signal: AbortSignal.timeout(30) }); } catch (e) { return [e.name, e.code]; }`,
  "aborting a body": `const c = new AbortController(); const r = await fetch(base + "/head-then-nothing", { signal: c.signal }); setTimeout(() => c.abort(), 30); try { await r.text(); } catch (e) { return [r.status, e.name]; }`,
  "a body cut short": `const r = await fetch(base + "/cut"); try { await r.text(); } catch (e) { return [e.name, e.message]; }`,
  "ten megabytes": `const r = await fetch(base + "/big?bytes=10000000"); const b = await r.arrayBuffer(); return [b.byteLength, new Uint8Array(b)[9999999]];`,
  "a big body sent": `const r = await fetch(base + "/length", { method: "POST", body: new Uint8Array(5000000) }); return r.text();`,
  "a body read in part": `const r = await fetch(base + "/big?bytes=5000000"); const reader = r.body.getReader(); const { value } = await reader.read(); await reader.cancel(); return [value.length > 0, r.bodyUsed];`,
  "a clone of a big body": `const r = await fetch(base + "/big?bytes=300000"); const c = r.clone(); return [(await r.text()).length, (await c.text()).length];`,
  "headers that cannot be changed": `const r = await fetch(base + "/echo"); try { r.headers.set("a", "b"); } catch (e) { return [e.name, e.message]; }`,
  "a Request": `const r = await fetch(new Request(base + "/echo", { method: "PATCH", body: "p", headers: { a: "b" } }), { headers: { c: "d" } }); const b = await r.json(); return [b.method, b.body, b.headers.a ?? null, b.headers.c];`,
  "many at once": `const all = await Promise.all(Array.from({ length: 120 }, (_, i) => fetch(base + "/echo?i=" + i).then((r) => r.json()))); return all.every((b, i) => b.url === "/echo?i=" + i);`,
  "other protocols": `return Promise.all(["ftp://a/", "file:///etc/passwd", "gopher://a/", "blob:x", "about:blank"].map(async (u) => { try { await fetch(u); } catch (e) { return [e.name, e.message]; } }));`,
};

describe("fetch", () => {
  it.each(Object.entries(asInNode))("gives %s as Node does", async (_name, code) => {
    const snippet = `const base = ${JSON.stringify(net.servers.http)}, closed = ${JSON.stringify(net.servers.closed)};\n${code}`;
    expect(await net.snippets.evaluate(snippet)).toEqual(await evaluateInNode(snippet));
  });

  it("drops hop-by-hop headers and sends only to the host that the egress policy allowed", async () => {
    const body = await net.snippets.evaluate(
      `return (await fetch(${JSON.stringify(`${net.servers.http}/echo`)}, { headers: { host: "evil.test", "proxy-authorization": "x", te: "trailers", "x-a": "1" } })).json();`,
    );
    expect(body).toMatchObject({ headers: { host: `127.0.0.1:${net.servers.httpPort}`, "x-a": "1" } });
    expect(body).not.toHaveProperty(["headers", "proxy-authorization"]);
  });

  it("ends a response of more than 32 MiB that is decompressed, or not read as a stream, also of a clone", async () => {
    const read = (path: string, how: string): Promise<unknown> =>
      net.snippets.evaluate(
        `try { const r = await fetch(${JSON.stringify(net.servers.http + path)}); ${how} } catch (e) { return [e.name, e.cause?.code]; }`,
      );
    expect(await read("/encoded?coding=bomb", "for await (const c of r.body);")).toEqual(["TypeError", "response_too_large"]);
    for (const how of ["await r.text();", "await r.clone().arrayBuffer();"])
      expect(await read("/endless", how)).toEqual(["TypeError", "response_too_large"]);
  });

  it("refuses a request body of more than 10 MiB", async () => {
    const answer = await net.snippets.evaluate(
      `try { await fetch(${JSON.stringify(`${net.servers.http}/length`)}, { method: "POST", body: new Uint8Array(10 * 1024 * 1024 + 1) }); } catch (e) { return [e.message, e.cause.code]; }`,
    );
    expect(answer).toEqual(["fetch failed", "limit_exceeded"]);
  });

  it("aborts requests that a run leaves behind", async () => {
    const before = net.servers.aborted();
    await net.snippets.evaluate(
      `fetch(${JSON.stringify(`${net.servers.http}/never`)}).catch(() => {}); await new Promise((r) => setTimeout(r, 50)); return 1;`,
    );
    await expect.poll(() => net.servers.aborted()).toBeGreaterThan(before);
  });
});

describe("fetch without an allow list", () => {
  let closed: Snippets;
  beforeAll(async () => {
    closed = await startSnippets([]);
  });
  afterAll(() => closed.stop());

  it("reaches no private address in any spelling, nor through a redirect", async () => {
    const hosts = [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "10.0.0.1",
      "169.254.169.254",
      "192.168.0.1",
      "[64:ff9b::7f00:1]",
      "0",
    ];
    const codes = await closed.evaluate(
      `return Promise.all(${JSON.stringify(hosts)}.map((h) => fetch("http://" + h + ":${net.servers.httpPort}/echo").then(() => "reached", (e) => e.cause.code)));`,
    );
    expect(codes).toEqual(hosts.map(() => "egress_denied"));
  });

  it("says why", async () => {
    const message = await closed.evaluate(`return fetch("http://127.0.0.1/").catch((e) => e.cause.message);`);
    expect(message).toMatch(/egress to 127\.0\.0\.1 is denied.*HEADWATER_EGRESS_ALLOW/);
  });
});
