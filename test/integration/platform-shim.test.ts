import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../builder/platform-shim/configuration-error.ts";
import { DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from "../../builder/platform-shim/constants.ts";
import { getFileStream, getFileStreamAndMetadata } from "../../builder/platform-shim/files.ts";
import { jsonStringifySafe } from "../../builder/platform-shim/json.ts";
import { transformConfigForOauth } from "../../builder/platform-shim/oauth.ts";
import { sqlProp, sqlProxy } from "../../builder/platform-shim/sql.ts";
import { defineAction, defineApp, defineSource } from "../../builder/platform-shim/types.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
let server: Server;
let url: string;
beforeAll(async () => {
  directory = await temporaryDirectory("shim");
  server = createServer((request, response) => {
    if (request.url !== "/files/a.csv?x=1") return void response.writeHead(404).end();
    const headers = { "content-type": "text/csv", "content-length": "3", etag: '"1"', "last-modified": "Sun, 22 Nov 2026 10:00:00 GMT" };
    response.writeHead(200, headers).end("a,b");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(async () => {
  server.close();
  await directory.remove();
});

/** `axios` is tested in bundles, see builder.test.ts. */
describe("files of components", () => {
  const read = (stream: Readable): Promise<string> => text(stream);

  it("are downloaded from a URL, with the server's metadata", async () => {
    const { stream, metadata } = await getFileStreamAndMetadata(`${url}/files/a.csv?x=1`);
    expect(metadata).toEqual({
      name: "a.csv",
      size: 3,
      contentType: "text/csv",
      etag: '"1"',
      lastModified: new Date("2026-11-22T10:00:00Z"),
    });
    expect(await read(stream)).toBe("a,b");
    expect(await read(await getFileStream(`${url}/files/a.csv?x=1`))).toBe("a,b");
    await expect(getFileStream(`${url}/none`)).rejects.toThrow(`cannot fetch ${url}/none: 404`);
  });

  it("are read from a path", async () => {
    const path = join(directory.path, "b.txt");
    await writeFile(path, "hello");
    const { stream, metadata } = await getFileStreamAndMetadata(path);
    expect(metadata).toEqual({ name: "b.txt", size: 5, lastModified: expect.any(Date) });
    expect(await read(stream)).toBe("hello");
    await expect(getFileStream(join(directory.path, "none"))).rejects.toThrow("ENOENT");
  });
});

describe("the signed text of an OAuth 1 signature", () => {
  it.each([
    [
      "parameters, with the address; a body of JSON not",
      { url: "https://x.test/a?b=1", params: { c: 2, d: undefined, e: null }, data: { f: 1 } },
      { method: "GET", url: "https://x.test/a?b=1&c=2", data: {} },
    ],
    [
      "a form",
      { method: "post", url: "/a", baseURL: "https://x.test", data: new URLSearchParams("b=1&c=%20") },
      { method: "POST", url: "https://x.test/a", data: { b: "1", c: " " } },
    ],
    [
      "fields that are sent as a form",
      {
        method: "POST",
        url: "https://x.test/",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        data: { b: 1 },
      },
      { method: "POST", url: "https://x.test/", data: { b: "1" } },
    ],
  ])("is %s", (_, config, covered) => {
    expect(transformConfigForOauth(config)).toEqual(covered);
  });
});

it("names the method that an app with a sql prop must have", () => {
  expect(() => sqlProp.methods.getSchema()).toThrow("getSchema is not implemented by this app");
  expect(() => sqlProp.methods.executeQuery({})).toThrow("executeQuery is not implemented by this app");
  expect(() => sqlProxy.methods.getClientConfiguration()).toThrow("getClientConfiguration is not implemented by this app");
  expect(sqlProxy.methods.proxyAdapter({ sql: "select 1" })).toEqual({ sql: "select 1" });
});

describe("JSON text of any value", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle["self"] = circle;
  const shared = { b: 1 };
  it.each([
    ["a circle", circle, '{"a":1,"self":"[Circular]"}'],
    ["the same twice, which is no circle", [shared, shared], '[{"b":1},{"b":1}]'],
    ["a bigint", { n: 1n }, '{"n":"1"}'],
    [
      "what refuses",
      {
        get a(): never {
          throw new Error("no");
        },
      },
      '"[Unserializable]"',
    ],
  ])("has %s", (_, value, json) => {
    expect(jsonStringifySafe(value)).toBe(json);
  });
});

it("identifies its error by name, and exports the default interval", () => {
  const error = new ConfigurationError("the url is missing");
  expect([error.name, error.message, error instanceof Error]).toEqual(["ConfigurationError", "the url is missing", true]);
  expect(DEFAULT_POLLING_SOURCE_TIMER_INTERVAL).toBe(900);
});

it("returns definitions unchanged", () => {
  const component = {};
  for (const define of [defineSource, defineAction, defineApp]) expect(define(component)).toBe(component);
});
