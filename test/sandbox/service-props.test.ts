import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emitted, ended, errorOf, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** Props that do something: requests to a real server, files, a store. */
let fixture: SandboxFixture;
let server: Server;
let url: string;
const seen: { readonly request: IncomingMessage; readonly body: string }[] = [];

beforeAll(async () => {
  fixture = await shareSandbox();
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      seen.push({ request, body });
      response.writeHead(request.url?.startsWith("/missing") === true ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ path: request.url }));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await fixture.stop();
});

describe("an http_request prop", () => {
  const code = `export default { name: "c", props: { request: "http_request" }, async run() { const { status, data } = await this.request.execute(); this.$emit([status, data]); } };`;
  const execute = (request: object) => fixture.run(code, { props: JSON.stringify({ request }) });

  it("sends the configured request without its disabled rows, and parses the response", async () => {
    const execution = await execute({
      url: `${url}/a?x=1`,
      params: [
        { name: "q", value: "b c" },
        { name: "off", value: "1", disabled: true },
        { name: "", value: "" },
      ],
      headers: [{ name: "x-one", value: "1" }],
      auth: { type: "bearer", token: "t0ken" },
    });
    expect(emitted(execution)).toEqual([[200, { path: "/a?x=1&q=b+c" }]]);
    expect(seen.at(-1)?.request).toMatchObject({ method: "GET", headers: { "x-one": "1", authorization: "Bearer t0ken" } });
  });

  it.each([
    ["a text", "plain", "plain", undefined],
    ["raw text of a type", { contentType: "text/csv", mode: "raw", raw: "a,b" }, "a,b", "text/csv"],
    ["fields as JSON", { contentType: "application/json", fields: [{ name: "a", value: "1" }] }, `{"a":"1"}`, "application/json"],
    [
      "fields of a form",
      { contentType: "application/x-www-form-urlencoded", fields: [{ name: "a", value: "1 2" }] },
      "a=1+2",
      "application/x-www-form-urlencoded;charset=UTF-8",
    ],
    ["an object", { a: [1] }, `{"a":[1]}`, "application/json"],
  ])("takes as body %s", async (_, body, sent, type) => {
    ended(await execute({ method: "post", url, body }));
    expect(seen.at(-1)).toMatchObject({ body: sent, request: { method: "POST" } });
    if (type !== undefined) expect(seen.at(-1)?.request.headers["content-type"]).toBe(type);
  });

  it("throws the error of a failed request", async () => {
    expect(errorOf(await execute({ url: `${url}/missing` }))).toMatchObject({ message: "Request failed with status code 404" });
    expect(errorOf(await execute({ url: "nonsense" }))).toMatchObject({ message: expect.stringMatching(/invalid url/i) });
    expect(errorOf(await execute({ url: "http://169.254.169.254/" }))).toMatchObject({ message: "fetch failed" });
  });
});

it("a dir prop is an existing directory", async () => {
  const code = `const fs = require("fs"); module.exports = { name: "c", props: { out: { type: "dir", sync: true }, "../x": "dir" }, run() {
    fs.writeFileSync(this.out + "/a.txt", "hello"); this.$emit([this.out, fs.readFileSync("/tmp/out/a.txt", "utf8"), fs.statSync(this["../x"]).isDirectory(), this["../x"]]); } };`;
  expect(emitted(await fixture.run(code))).toEqual([["/tmp/out", "hello", true, "/tmp/___x"]]);
});

it("a data_store stores values beside the db", async () => {
  const code = `export default { name: "c", props: { store: "data_store", db: "$.service.db" }, async run() { this.db.set("n", 1); await this.store.set("n", (await this.store.get("n", 0)) + 2); await this.store.delete("old"); this.$emit(await this.store.entries()); } };`;
  const execution = await fixture.run(code, { db: { store: { n: "40", old: "1" } } });
  expect(emitted(execution)).toEqual([[["n", 42]]]);
  expect(ended(execution)).toMatchObject({ db: { db: { n: "1" }, store: { n: "42", old: null } } });
});

it("additional props are bound by their definitions: stores, endpoints, apps with the component's code of them", async () => {
  const code = `const app = { type: "app", app: "x", methods: { key() { return this.$auth.key; } }, propDefinitions: { p: { type: "string" } } };
    export default { name: "c", props: { kind: "string", p: { propDefinition: [app, "p"] } }, additionalProps() { throw new Error("not in a run"); },
      run() { this.store.set("n", 1); this.web.respond({ status: 204 }); this.$emit([this.kind, this.acc.key(), this.other.$auth.key, this.web.endpoint, this.text, this.unset ?? null]); } };`;
  const execution = await fixture.run(code, {
    props: JSON.stringify({ kind: "k", acc: { $auth: { key: "A" } }, other: { $auth: { key: "B" } }, text: "t" }),
    endpoint: "https://in.test/e",
    additionalProps: [
      { name: "store", type: "$.service.db" },
      { name: "web", type: "$.interface.http" },
      { name: "acc", type: "app", app: "x" },
      { name: "other", type: "app", app: "unknown" },
      { name: "text", type: "string" },
      { name: "unset", type: "string" },
    ],
  });
  expect(emitted(execution)).toEqual([["k", "A", "B", "https://in.test/e", "t", null]]);
  expect(ended(execution)).toMatchObject({ db: { store: { n: "1" } }, response: { status: 204 } });
});
