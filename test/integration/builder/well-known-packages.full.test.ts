import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { registryAnswers } from "../../support/npm-registry.ts";
import { evaluate, failure, listen, openBuilder } from "./support.ts";

const component = (name: string, before = ""): string => `${before}\nexport default { name: ${name}, async run() {} };\n`;
const reachable = await registryAnswers();

describe.skipIf(!reachable)("with the npm registry", () => {
  test("builds well-known packages", async () => {
    const { builder } = await openBuilder();
    const build = await builder.build({
      code: component(
        "[ms2(60_000), chunk([1, 2], 2).length, typeof axios.get].join()",
        'import ms2 from "ms@^2";\nimport chunk from "lodash@4/chunk.js";\nimport axios from "axios@1";',
      ),
    });
    expect(build.definition.name).toBe("1m,1,function");
    expect(JSON.parse(build.lockfile ?? "")).toMatchObject({ lockfileVersion: 3 });
  });

  test("uses our platform package, and bundles only what the component uses of it", async () => {
    const { builder } = await openBuilder();
    const small = await builder.build({
      code: component(
        "`${new ConfigurationError('x').name} ${jsonStringifySafe({ a: 1n })} ${D}`",
        'import { ConfigurationError, jsonStringifySafe, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL as D } from "@pipedream/platform";',
      ),
    });
    expect(small.definition.name).toBe('ConfigurationError {"a":"1"} 900');
    expect(small.bundleBytes).toBeLessThan(3_000);
    expect(small.needsNode).toBe(false);
  });

  test("has an axios in the platform package that returns data, omits undefined, and throws the server's message", async () => {
    const { builder, stored } = await openBuilder();
    const build = await builder.build({
      code: 'import { axios, getFileStream } from "@pipedream/platform";\nexport default { name: "x", axios, getFileStream, run() {} };\n',
    });
    const { axios, getFileStream } = (await evaluate(stored.get(build.bundle) ?? "")) as unknown as {
      axios(step: unknown, config: unknown): Promise<Record<string, unknown>>;
      getFileStream(url: string): Promise<AsyncIterable<Uint8Array>>;
    };
    const server = await listen((request, response) => {
      response.writeHead(request.url === "/bad" ? 400 : 200, { "content-type": "application/json" });
      response.end(
        JSON.stringify(request.url === "/bad" ? { error: "no such field" } : { url: request.url, header: request.headers["x-a"] ?? null }),
      );
    });
    expect(
      await axios(undefined, {
        url: `${server}/list?a=1`,
        params: { b: 2, c: undefined },
        headers: { "x-a": undefined },
      }),
    ).toEqual({ url: "/list?a=1&b=2", header: null });
    expect(await axios(undefined, { url: `${server}/`, returnFullResponse: true })).toMatchObject({
      status: 200,
      data: { url: "/" },
    });
    const exports: unknown[] = [];
    const error = await failure(
      axios({ export: (name: string, value: unknown) => exports.push([name, value]) }, { url: `${server}/bad` }).catch((thrown: Error) => {
        throw Object.assign(new Error(thrown.message), { response: (thrown as { response?: unknown }).response });
      }),
    );
    expect(error.message).toBe('{"error":"no such field"}');
    expect(exports).toMatchObject([["debug", { status: 400, data: { error: "no such field" } }]]);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await getFileStream(`${server}/file`)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('{"url":"/file","header":null}');
  });

  test("builds a second component with the same imports without npm's cache", async () => {
    const { builder, directory } = await openBuilder();
    const code = (name: string): string => component(`"${name}" + axios.VERSION`, 'import axios from "axios@1.6";');
    await builder.build({ code: code("first") });
    await rm(join(directory, "cache"), { recursive: true });
    const build = await builder.build({ code: code("second") });
    expect(build.definition.name).toMatch(/^second1\.6\./);
    expect(await readFile(join(directory, "bundles", `${build.bundle}.js.map`), "utf8")).toContain('"axios/');
  });
});
