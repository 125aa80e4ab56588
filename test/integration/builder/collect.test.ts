import { describe, expect, onTestFinished, test } from "vitest";
import type { CollectLimits } from "../../../builder/collect/limits.ts";
import { rawAddress } from "../../../builder/collect/raw-address.ts";
import type { ComponentCode } from "../../../domain/component/component-code.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { createTextReader } from "../../../platform/http/text-reader.ts";
import { startRegistry } from "./registry.ts";
import { failure, listen, openBuilder } from "./support.ts";

interface Site {
  readonly origin: string;
  /** Requested paths, with their queries. */
  readonly asked: string[];
}

/** Serves strings by their paths; one that starts with `=> ` is a redirect. */
async function serve(texts: Readonly<Record<string, string>>): Promise<Site> {
  const asked: string[] = [];
  const origin = await listen((request, response) => {
    asked.push(request.url ?? "");
    const text = texts[decodeURIComponent(new URL(request.url ?? "", "http://h").pathname.slice(1))];
    if (text === undefined) return void response.writeHead(404).end("not here");
    if (text.startsWith("=> ")) return void response.writeHead(302, { location: text.slice(3) }).end();
    response.end(text);
  });
  return { origin, asked };
}

async function collecting(limits: Partial<CollectLimits> = {}, allow: readonly string[] = ["127.0.0.1/32"], options = {}) {
  const { builder } = await openBuilder({ collectLimits: limits, ...options });
  const addresses = createTextReader({ egress: createEgress({ allow }), maxBytes: 100_000, timeoutMs: 5_000 });
  onTestFinished(() => addresses.close());
  return { builder, collect: (url: string): Promise<ComponentCode> => builder.collect(url, addresses) };
}

/** Part of a repository, laid out like public ones. */
const app = {
  "repo/components/acme/sources/new-item/new-item.mjs":
    'import common from "../common/polling.mjs";\nimport sampleEmit from "./test-event.mjs";\nexport default { ...common, name: "New " + common.label + sampleEmit.id, run() {} };\n',
  "repo/components/acme/sources/new-item/test-event.mjs": "export default { id: 7 };\n",
  "repo/components/acme/sources/common/polling.mjs":
    'import acme from "../../acme.app.mjs";\nimport constants from "./constants";\nexport default { label: acme.label + constants.sep };\n',
  "repo/components/acme/sources/common/constants.ts": 'const sep: string = " ";\nexport default { sep };\n',
  "repo/components/acme/acme.app.mjs": 'import one from "one";\nexport default { label: one };\n',
  "repo/components/acme/package.json": '{"name":"acme","dependencies":{"one":"^1.0.0"}}',
  "repo/package.json": '{"dependencies":{"one":"^2.0.0"}}',
};
const entry = "repo/components/acme/sources/new-item/new-item.mjs";

describe("a component at an address", () => {
  test("is built from its entry, the modules it imports, and the package.json that names versions", async () => {
    const { npm } = await startRegistry(
      ["1.2.0", "2.0.0"].map((version) => ({ name: "one", version, files: { "index.js": `module.exports = "item ${version}"` } })),
    );
    const { builder, collect } = await collecting({}, ["127.0.0.1/32"], { npm });
    const { origin, asked } = await serve(app);
    const component = await collect(`${origin}/${entry}?token=secret#top`);
    expect([component.entry, component.code]).toEqual(["sources/new-item/new-item.mjs", app[entry]]);
    expect(Object.keys(component.files ?? {})).toEqual([
      "acme.app.mjs",
      "package.json",
      "sources/common/constants.ts",
      "sources/common/polling.mjs",
      "sources/new-item/test-event.mjs",
    ]);
    expect(asked.filter((path) => path.includes("secret"))).toEqual([`/${entry}?token=secret`]);
    expect((await builder.build(component)).definition.name).toBe("New item 1.2.0 7");
  });

  test("has only its entry if it imports nothing", async () => {
    const { collect } = await collecting();
    const { origin, asked } = await serve({ "a/b.mjs": "export default {}" });
    expect(await collect(`${origin}/a/b.mjs`)).toEqual({ code: "export default {}" });
    expect(asked).toEqual(["/a/b.mjs"]);
  });

  test("may use every syntax of imports", async () => {
    const { builder, collect } = await collecting();
    const { origin } = await serve({
      "c/main.js": 'const a = require("./lib");\nconst b = require("./data");\nmodule.exports = { name: a.name + b.n, run() {} };\n',
      "c/lib/index.js": 'import("./later.js");\nexports.name = require("./typed.js").default;\n',
      "c/lib/typed.ts": 'import type { Nothing } from "./nothing";\nexport default "typed" as string & Nothing;\n',
      "c/lib/later.ts": "export {};\n",
      "c/data.json": '{"n":1}',
      "c/ümlaut %.mjs": "",
    });
    expect((await builder.build(await collect(`${origin}/c/main.js`))).definition.name).toBe("typed1");
  });

  test("resolves names that URLs encode differently", async () => {
    const { collect } = await collecting();
    const { origin } = await serve({ "c d/ä.mjs": 'import "./50% @x.mjs";', "c d/50% @x.mjs": "" });
    const component = await collect(`${origin}/c%20d/%C3%A4.mjs`);
    expect([component.entry, Object.keys(component.files ?? {})]).toEqual(["ä.mjs", ["50% @x.mjs"]]);
  });

  test("may leave its folder and enter it again by name, as URLs allow", async () => {
    const { builder, collect } = await collecting();
    const { origin } = await serve({
      "mods/main.mjs": 'import app from "../mods/app.mjs";\nexport default { name: app, run() {} };\n',
      "mods/app.mjs": 'import { name } from "../mods/lib/name.js";\nexport default name;\n',
      "mods/lib/name.ts": 'import "../../mods/main.mjs";\nexport const name: string = "again";\n',
    });
    const component = await collect(`${origin}/mods/main.mjs`);
    expect([component.entry, Object.keys(component.files ?? {})]).toEqual(["mods/main.mjs", ["mods/app.mjs", "mods/lib/name.ts"]]);
    expect((await builder.build(component)).definition.name).toBe("again");
  });

  test("may import itself", async () => {
    const { builder, collect } = await collecting();
    const { origin } = await serve({ "a/b.mjs": 'import * as self from "../a/b.mjs";\nexport default { name: typeof self, run() {} };\n' });
    expect((await builder.build(await collect(`${origin}/a/b.mjs`))).definition.name).toBe("object");
  });

  test("requests each URL once, also when modules import each other", async () => {
    const { collect } = await collecting();
    const { origin, asked } = await serve({
      "a.mjs": 'import "./b.mjs"; import "./c.mjs"; import "./b.mjs";',
      "b.mjs": 'import "./a.mjs"; import "./c.mjs";',
      "c.mjs": 'import "./a.mjs"; import "./b.mjs"; import "./gone/../b.mjs";',
    });
    await collect(`${origin}/a.mjs`);
    expect(asked).toEqual(["/a.mjs", "/b.mjs", "/c.mjs"]);
  });

  test("is fetched with several concurrent requests, up to a limit", async () => {
    const { collect } = await collecting({ parallel: 4 });
    const waiting: (() => void)[] = [];
    let most = 0;
    const origin = await listen((request, response) => {
      if (request.url === "/main.mjs") return void response.end(Array.from({ length: 20 }, (_, n) => `import "./${n}.mjs";`).join(""));
      waiting.push(() => response.end(""));
      most = Math.max(most, waiting.length);
      // The server holds every response until the maximum number waits; the last few have fewer to wait for.
      if (waiting.length === 4) for (const answer of waiting.splice(0)) answer();
    });
    expect(Object.keys((await collect(`${origin}/main.mjs`)).files ?? {})).toHaveLength(20);
    expect(most).toBe(4);
  });

  test("follows redirects of the entry and of its modules", async () => {
    const { collect } = await collecting();
    const other = await serve({
      "v2/main.mjs": 'import a from "./a.mjs";',
      "v2/a.mjs": "=> /cdn/a-1.mjs",
      "cdn/a-1.mjs": "export default 1",
    });
    const { origin } = await serve({ latest: `=> ${other.origin}/v2/main.mjs` });
    expect(await collect(`${origin}/latest`)).toEqual({
      code: 'import a from "./a.mjs";',
      entry: "main.mjs",
      files: { "a.mjs": "export default 1" },
    });
  });

  test("is fetched as raw text when the URL is the page of a file", () => {
    const pages: readonly (readonly [string, string])[] = [
      ["https://github.com/o/r/blob/main/a/b.mjs", "https://raw.githubusercontent.com/o/r/main/a/b.mjs"],
      ["https://github.com/o/r/blob/v1.0/a b.mjs?plain=1#L3", "https://raw.githubusercontent.com/o/r/v1.0/a%20b.mjs?plain=1"],
      ["https://github.com/o/r/raw/main/b.mjs", "https://raw.githubusercontent.com/o/r/main/b.mjs"],
      ["https://gitlab.com/g/s/p/-/blob/main/a.mjs", "https://gitlab.com/g/s/p/-/raw/main/a.mjs"],
      ["https://bitbucket.org/o/r/src/main/a.mjs", "https://bitbucket.org/o/r/raw/main/a.mjs"],
      ["https://codeberg.org/o/r/src/branch/main/a.mjs", "https://codeberg.org/o/r/raw/branch/main/a.mjs"],
      ["https://gist.github.com/o/0123456789abcdef", "https://gist.githubusercontent.com/o/0123456789abcdef/raw"],
      ["https://example.com/src/branch/a.mjs", "https://example.com/src/branch/a.mjs"],
      ["https://raw.githubusercontent.com/o/r/main/a.mjs", "https://raw.githubusercontent.com/o/r/main/a.mjs"],
    ];
    for (const [page, raw] of pages) expect(rawAddress(page)).toBe(raw);
  });
});

describe("refused", () => {
  test("a missing module, with the importing module and the requested URLs", async () => {
    const { collect } = await collecting();
    const { origin } = await serve({ "x/main.mjs": 'import "./lib/a.mjs";', "x/lib/a.mjs": '// first\nimport b from "../b";' });
    const error = await failure(collect(`${origin}/x/main.mjs?token=secret`));
    expect(error).toMatchObject({ status: 422, code: "import_not_found", details: { file: "x/lib/a.mjs", line: 2, column: 15 } });
    expect(error.message).toContain(
      `${origin}/x/lib/a.mjs imports "../b", but no file was found: requested ${origin}/x/b (404), ${origin}/x/b.mjs (404)`,
    );
    expect(error.message).not.toContain("secret");
  });

  test.each([
    ["no text", "/none.mjs", 422, "responded with 404: use an address of a component's code"],
    ["a page", "/page", 422, "responded with a web page"],
    ["a module above the root of the server", "/above.mjs", 422, 'import "../x.mjs" is refused'],
    ["a module that is a page", "/to-page.mjs", 422, 'imports "./page", but no file was found'],
    ["a syntax error", "/broken.mjs", 422, "broken.mjs:1:"],
    ["a large text", "/large.mjs", 413, "is larger than 100000 bytes"],
    ["a redirect without end", "/loop", 422, "redirects more than 5 times"],
    ["a redirect to something else", "/file", 422, "only http and https addresses can"],
    ["a redirect into the private network", "/private", 403, "egress to 10.0.0.1 is denied"],
    ["a module in the private network", "/to-private.mjs", 403, "egress to 169.254.169.254 is denied"],
  ])("%s", async (_, path, status, message) => {
    const { collect } = await collecting();
    const { origin } = await serve({
      page: "<!DOCTYPE html><html></html>",
      "above.mjs": 'import "../x.mjs";',
      "to-page.mjs": 'import "./page";',
      "broken.mjs": "export {{",
      "large.mjs": "x".repeat(100_001),
      loop: "=> /loop",
      file: "=> file:///etc/passwd",
      private: "=> http://10.0.0.1/",
      "to-private.mjs": 'import "./hop.mjs";',
      "hop.mjs": "=> http://169.254.169.254/latest",
    });
    const error = await failure(collect(origin + path));
    expect(error).toMatchObject({ status });
    expect(error.message).toContain(message);
  });

  test("a URL that the egress policy denies, before anything is sent", async () => {
    const { collect } = await collecting({}, []);
    const { origin, asked } = await serve({ "a.mjs": "" });
    expect(await failure(collect(`${origin}/a.mjs`))).toMatchObject({ status: 403, code: "egress_denied" });
    expect(asked).toEqual([]);
  });

  test("endless modules, by number, depth, bytes and requests", async () => {
    const chain = await listen((request, response) => response.end(`import "./${Number((request.url ?? "").slice(1, -4)) + 1}.mjs";`));
    const deep = await collecting({ depth: 3 });
    expect(await failure(deep.collect(`${chain}/0.mjs`))).toMatchObject({
      status: 413,
      message: expect.stringContaining("more than 3 deep"),
    });
    const many = await collecting({ files: 5 });
    expect(await failure(many.collect(`${chain}/0.mjs`))).toMatchObject({
      status: 413,
      message: expect.stringContaining("more than 5 files"),
    });
    const wide = await listen((_, response) =>
      response.end(`${Array.from({ length: 30 }, (_each, n) => `import "./${n}.mjs";`).join("")}//${"x".repeat(500)}`),
    );
    const few = await collecting({ requests: 10 });
    expect(await failure(few.collect(`${wide}/0.mjs`))).toMatchObject({
      status: 413,
      message: expect.stringContaining("more than 10 requests"),
    });
    const small = await collecting({ bytes: 5_000 });
    expect(await failure(small.collect(`${wide}/0.mjs`))).toMatchObject({
      status: 413,
      message: expect.stringContaining("more than 5000 bytes"),
    });
    const read = await collecting({ readBytes: 5_000 });
    expect(await failure(read.collect(`${wide}/0.mjs`))).toMatchObject({ status: 413, code: "component_too_large" });
  });

  test("more concurrent fetches than an owner may have, while those of other owners continue", async () => {
    const { builder } = await openBuilder({ limits: { waitingOfOwner: 2 } });
    const addresses = createTextReader({ egress: createEgress({ allow: ["127.0.0.1/32"] }), maxBytes: 1_000, timeoutMs: 10_000 });
    onTestFinished(() => addresses.close());
    const { promise, resolve } = Promise.withResolvers<void>();
    const origin = await listen((request, response) => {
      void (request.url === "/slow.mjs" ? promise : Promise.resolve()).then(() => response.end("export default {}"));
    });
    const slow = [1, 2].map(() => builder.collect(`${origin}/slow.mjs`, addresses, "u_greedy"));
    expect(await failure(builder.collect(`${origin}/slow.mjs`, addresses, "u_greedy"))).toMatchObject({
      status: 503,
      code: "builder_busy",
      message: "2 of your components are being fetched already: try again",
    });
    expect(await builder.collect(`${origin}/fast.mjs`, addresses, "u_other")).toEqual({ code: "export default {}" });
    resolve();
    await Promise.all(slow);
  });

  test("a server that does not respond, within the time limit", async () => {
    const { collect } = await collecting({ totalMs: 300 });
    const origin = await listen(() => {});
    expect(await failure(collect(`${origin}/a.mjs`))).toMatchObject({ status: 503, code: "fetch_timeout" });
  });

  test("a server that fails, as a temporary error", async () => {
    const { collect } = await collecting();
    const origin = await listen((_, response) => response.writeHead(503).end());
    expect(await failure(collect(`${origin}/a.mjs?token=secret`))).toMatchObject({
      status: 503,
      message: `'${origin}/a.mjs' answered 503: try again`,
    });
    const gone = await failure(collect("http://127.0.0.1:1/a.mjs?token=secret"));
    expect([gone.status, gone.message.includes("secret")]).toEqual([503, false]);
  });
});
