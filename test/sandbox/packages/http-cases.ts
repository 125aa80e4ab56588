import type { PackageCase } from "./case.ts";

/** Clients of HTTP. */
export const httpCases: readonly PackageCase[] = [
  {
    package: "axios",
    version: "1.21.1",
    shows: "query, JSON, errors, a redirect, gzip, a stream, a time limit, an aborted request, an interceptor, a proxy",
    imports: `import axios from "axios";`,
    body: `const at = servers.http; const client = axios.create({ baseURL: at, auth: { username: "u", password: "p" } });
      client.interceptors.request.use((config) => { config.headers["x-a"] = "1"; return config; });
      const read = await client.get("/read", { params: { q: "é 1", list: [1, 2] } });
      const written = await axios.post(at + "/write", { a: 1 });
      const failed = await axios.get(at + "/missing").catch((error) => [error.message, error.code, error.response.data.url]);
      const moved = await axios.get(at + "/moved"); const unmoved = await axios.get(at + "/moved", { maxRedirects: 0, validateStatus: null });
      const stream = (await axios.get(at + "/feed", { responseType: "stream" })).data; let streamed = 0; for await (const chunk of stream) streamed += chunk.length;
      const late = await axios.get(at + "/never", { timeout: 50 }).catch((error) => error.code);
      const controller = new AbortController(); setTimeout(() => controller.abort(), 20);
      const aborted = await axios.get(at + "/never", { signal: controller.signal }).catch((error) => [error.code, axios.isCancel(error)]);
      const refused = await axios.get("http://127.0.0.1:1/").catch((error) => error.code);
      const proxied = await axios.get(at + "/proxied", { proxy: { protocol: "http", host: "127.0.0.1", port: servers.proxy } });
      return [read.data.url, read.data.authorization, written.data.body, written.data.type, failed, moved.data.url, moved.request.path, unmoved.status, (await axios.get(at + "/packed")).data, streamed > 200, late, aborted, refused, [proxied.data.url, proxied.data.via]];`,
    result: [
      "/read?q=%C3%A9+1&list%5B%5D=1&list%5B%5D=2",
      "Basic dTpw",
      `{"a":1}`,
      "application/json",
      ["Request failed with status code 404", "ERR_BAD_REQUEST", "/missing"],
      "/landed",
      "/landed",
      302,
      { packed: true },
      true,
      "ECONNABORTED",
      ["ERR_CANCELED", true],
      "ECONNREFUSED",
      ["/proxied", "proxy"],
    ],
  },
  {
    package: "axios",
    version: "0.27.2",
    shows: "query, JSON, errors, a redirect, gzip",
    imports: `import axios from "axios";`,
    body: `const at = servers.http; return [(await axios.get(at + "/a", { params: { b: [1, 2] } })).data.url, (await axios.post(at + "/w", { a: 1 })).data.body, await axios.get(at + "/missing").catch((e) => e.response.status), (await axios.get(at + "/moved")).data.url, (await axios({ url: at + "/packed" })).data];`,
    result: ["/a?b[]=1&b[]=2", `{"a":1}`, 404, "/landed", { packed: true }],
  },
  {
    package: "form-data",
    version: "4.0.6",
    shows: "a field, a file and a stream uploaded through axios",
    imports: `import FormData from "form-data"; import axios from "axios@1.21.1"; import { Readable } from "stream";`,
    body: `const form = new FormData(); form.append("field", "1"); form.append("file", Buffer.from("content"), { filename: "f.txt", contentType: "text/plain" }); form.append("stream", Readable.from(["str", "eam"]), { filename: "s.bin" });
      const { data } = await axios.post(servers.http + "/upload", form, { headers: form.getHeaders() }); return [/^multipart\\/form-data; *boundary=/.test(data.type), data.body.replaceAll(/-{10,}\\w+/g, "B")];`,
    result: [
      true,
      'B\r\nContent-Disposition: form-data; name="field"\r\n\r\n1\r\nB\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\ncontent\r\nB\r\nContent-Disposition: form-data; name="stream"; filename="s.bin"\r\nContent-Type: application/octet-stream\r\n\r\nstream\r\nB--\r\n',
    ],
  },
  {
    package: "got",
    version: "16.1.0",
    shows: "JSON, query, a retry after 503, errors, pagination, a stream",
    imports: `import got from "got";`,
    body: `const at = servers.http; const bad = await got(at + "/missing").catch((e) => [e.name, e.response.statusCode]);
      const pages = await got.paginate.all(at + "/page", { searchParams: { n: 1 }, pagination: { transform: (r) => [JSON.parse(r.body).url], stackAllItems: true, paginate: ({ allItems }) => allItems.length < 2 ? { searchParams: { n: 2 } } : false } });
      let text = ""; for await (const chunk of got.stream(at + "/feed")) text += chunk;
      return [(await got.post(at + "/a", { json: { a: 1 } }).json()).body, await got(at + "/flaky/got", { retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 } }).json(), bad, pages, text.length > 200, (await got(at + "/packed").json())];`,
    result: [`{"a":1}`, { attempt: 2 }, ["HTTPError", 404], ["/page?n=1", "/page?n=2"], true, { packed: true }],
  },
  {
    package: "got",
    version: "11.8.6",
    shows: "JSON, query, a retry after 503, errors",
    imports: `import got from "got";`,
    body: `const at = servers.http; return [(await got.post(at + "/a", { json: { a: 1 }, responseType: "json" })).body.body, (await got(at + "/b", { searchParams: { c: 1 } }).json()).url, await got(at + "/flaky/got11", { retry: { limit: 2, calculateDelay: ({ computedValue }) => computedValue && 1 } }).json(), await got(at + "/missing").catch((e) => e.response.statusCode)];`,
    result: [`{"a":1}`, "/b?c=1", { attempt: 2 }, 404],
  },
  {
    package: "node-fetch",
    version: "3.3.2",
    shows: "JSON, a form, a redirect, gzip, an aborted request, a stream",
    imports: `import fetch, { FormData, AbortError } from "node-fetch";`,
    body: `const at = servers.http; const form = new FormData(); form.set("a", "1"); const sent = await (await fetch(at + "/f", { method: "POST", body: form })).json();
      const controller = new AbortController(); setTimeout(() => controller.abort(), 20); const aborted = await fetch(at + "/never", { signal: controller.signal }).catch((e) => e instanceof AbortError);
      let size = 0; for await (const chunk of (await fetch(at + "/feed")).body) size += chunk.length;
      return [(await (await fetch(at + "/a?b=1")).json()).url, sent.body.includes('name="a"'), (await (await fetch(at + "/moved")).json()).url, await (await fetch(at + "/packed")).json(), aborted, size > 200, await fetch("http://127.0.0.1:1/").catch((e) => [e.name, e.code])];`,
    result: ["/a?b=1", true, "/landed", { packed: true }, true, true, ["FetchError", "ECONNREFUSED"]],
  },
  {
    package: "node-fetch",
    version: "2.7.0",
    shows: "JSON, headers, a redirect, gzip",
    imports: `import fetch, { Headers } from "node-fetch";`,
    body: `const at = servers.http; return [(await (await fetch(at + "/a", { method: "POST", body: new URLSearchParams({ b: "1" }), headers: new Headers({ authorization: "x" }) })).json()), (await (await fetch(at + "/moved")).json()).url, await (await fetch(at + "/packed")).json(), (await fetch(at + "/missing")).ok];`,
    result: [
      {
        method: "POST",
        url: "/a",
        type: "application/x-www-form-urlencoded;charset=UTF-8",
        authorization: "x",
        body: "b=1",
      },
      "/landed",
      { packed: true },
      false,
    ],
  },
  {
    package: "cross-fetch",
    version: "4.1.0",
    shows: "JSON",
    imports: `import fetch, { Headers } from "cross-fetch";`,
    body: `return (await (await fetch(servers.http + "/a", { headers: new Headers({ authorization: "x" }) })).json()).authorization;`,
    result: "x",
  },
  {
    package: "isomorphic-fetch",
    version: "3.0.0",
    shows: "JSON through the global fetch",
    imports: `import "isomorphic-fetch";`,
    body: `return (await (await fetch(servers.http + "/a")).json()).url;`,
    result: "/a",
  },
  {
    package: "undici",
    version: "8.12.4",
    shows: "fetch and request of our own implementation, since the package's own reads answers with WebAssembly; no proxies",
    imports: `import { Agent, fetch, ProxyAgent, request } from "undici";`,
    body: `const { statusCode, body } = await request(servers.http + "/r", { method: "POST", body: "hi", query: { a: 1 }, headers: ["authorization", "b"] }); const got = await body.json();
      const through = await fetch(servers.http + "/f", { dispatcher: new ProxyAgent("http://127.0.0.1") }).catch((error) => error.code);
      return [statusCode, got.url, got.body, got.authorization, (await request(servers.http + "/missing")).statusCode, (await (await fetch(servers.http + "/f", { dispatcher: new Agent() })).json()).url, through];`,
    result: [200, "/r?a=1", "hi", "b", 404, "/f", "ERR_SANDBOX_UNSUPPORTED"],
  },
  {
    package: "ky",
    version: "2.1.0",
    shows: "JSON, a retry after 503, errors",
    imports: `import ky from "ky";`,
    body: `const at = servers.http; return [(await ky.post(at + "/a", { json: { a: 1 } }).json()).body, await ky(at + "/flaky/ky", { retry: { limit: 2, delay: () => 1 } }).json(), await ky(at + "/missing").catch((e) => [e.name, e.response.status])];`,
    result: [`{"a":1}`, { attempt: 2 }, ["HTTPError", 404]],
  },
  {
    package: "superagent",
    version: "10.4.2",
    shows: "query, JSON, an upload, errors",
    imports: `import request from "superagent";`,
    body: `const at = servers.http; const up = await request.post(at + "/up").field("a", "1").attach("f", Buffer.from("x"), "f.txt"); return [(await request.get(at + "/a").query({ b: 1 })).body.url, (await request.post(at + "/p").send({ c: 1 })).body.body, up.body.body.includes('filename="f.txt"'), await request.get(at + "/missing").catch((e) => e.status)];`,
    result: ["/a?b=1", `{"c":1}`, true, 404],
  },
  {
    package: "request",
    version: "2.88.2",
    shows: "JSON, a form, gzip, a redirect (the package is deprecated, and still used)",
    imports: `import request from "request";`,
    body: `const ask = (options) => new Promise((ok, no) => request(options, (e, response, body) => e ? no(e) : ok(body))); const at = servers.http; return [(await ask({ url: at + "/a", method: "POST", json: { b: 1 } })).body, JSON.parse(await ask({ url: at + "/f", method: "POST", form: { c: 1 } })).body, JSON.parse(await ask({ url: at + "/packed", gzip: true })), JSON.parse(await ask(at + "/moved")).url];`,
    result: [`{"b":1}`, "c=1", { packed: true }, "/landed"],
  },
  {
    package: "https-proxy-agent",
    version: "9.1.0",
    shows: "a request through a tunnel of an HTTP proxy",
    imports: `import { HttpsProxyAgent } from "https-proxy-agent"; import http from "http";`,
    body: `const agent = new HttpsProxyAgent("http://127.0.0.1:" + servers.proxy); return await new Promise((ok, no) => http.get(servers.http + "/tunnelled", { agent }, async (response) => { let text = ""; for await (const chunk of response) text += chunk; ok(JSON.parse(text).url); }).on("error", no));`,
    result: "/tunnelled",
  },
  {
    package: "graphql-request",
    version: "7.4.0",
    shows: "a query with variables",
    imports: `import { GraphQLClient, gql } from "graphql-request";`,
    body: "const client = new GraphQLClient(servers.http + '/graphql', { headers: { authorization: 'x' } }); return await client.request(gql`query ($id: ID!) { asked(id: $id) { id } }`, { id: '7' });",
    result: { asked: { id: "7" } },
  },
  {
    package: "ws",
    version: "8.23.0",
    shows: "a conversation of text and bytes",
    imports: `import WebSocket from "ws";`,
    body: `return await new Promise((ok, no) => { const socket = new WebSocket(servers.websocket); const heard = []; socket.on("error", no); socket.on("open", () => { socket.send("héllo"); socket.send(Buffer.from([1, 2, 255])); }); socket.on("message", (data, isBinary) => { heard.push(isBinary ? [...data] : String(data)); if (heard.length === 2) socket.close(1000, "done"); }); socket.on("close", (code, reason) => ok([heard, code, String(reason)])); });`,
    result: [["héllo", [1, 2, 255]], 1000, "done"],
  },
];
