import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStackMapper } from "../../builder/bundle/source-map.ts";
import { startBuilder } from "../../builder/start.ts";
import type { BuildRequest } from "../../builder/ports.ts";
import type { Build } from "../../domain/component/definition.ts";
import { evaluate, failure, listen, openBuilder, openWholeBuilder } from "./builder/support.ts";

/** Limit of a build in which a step hangs: long enough for the steps before it on a busy machine. */
const hangMs = 5_000;

const component = (name = '"x"', before = ""): string => `${before}\nexport default { name: ${name}, async run() {} };\n`;

describe("a build", () => {
  test("returns the hash of the code, and stores the bundle under its own hash beside its source map", async () => {
    const { builder, stored } = await openBuilder();
    const code = component('"ümlaut"');
    const build = await builder.build({ code });
    expect(build.codeHash).toBe(createHash("sha256").update(code, "utf8").digest("hex"));
    const text = stored.get(build.bundle) ?? "";
    expect(createHash("sha256").update(text).digest("hex")).toBe(build.bundle);
    expect(build).toMatchObject({ bundleBytes: Buffer.byteLength(text), needsNode: false, lockfile: null });
    expect(text.startsWith('(async()=>{"use strict";')).toBe(true);
    expect([...stored.keys()]).toEqual([`${build.bundle}.map`, build.bundle]);
  });

  test.each([
    ["an export", 'export default { name: "same", run() {} }'],
    ["module.exports", 'module.exports = { name: "same", run() {} }'],
    ["exports with __esModule", 'exports.__esModule = true; exports.default = { name: "same", run() {} }'],
    [
      "TypeScript",
      'interface Named { name: string }\nconst named: Named = { name: "same" };\nexport default { ...named, run(this: unknown): void {} }',
    ],
    ["defineSource", 'import { defineSource } from "@pipedream/types";\nexport default defineSource({ name: "same", run() {} })'],
    ["a top-level await", 'const name = await Promise.resolve("same");\nexport default { name, run() {} }'],
    ["a byte order mark and Windows lines", '\uFEFFexport default {\r\n name: "same",\r\n run() {} }'],
  ])("builds a component written as %s", async (_, code) => {
    const { builder } = await openBuilder();
    expect((await builder.build({ code })).definition.name).toBe("same");
  });

  test.each([
    ["nothing of Node", "0", false],
    ["Buffer", "Buffer.from('a')", true],
    ["typeof Buffer", "typeof Buffer", true],
    ["process", "process.env.PD_COMPONENT", true],
    ["global.process", "global.process.env", true],
    ["a built-in", 'require("crypto")', true],
    ["NODE_ENV", "process.env.NODE_ENV", false],
    ["a field called process", "({ process: 1 }).process", false],
    ["a local called Buffer", "((Buffer) => Buffer)(1)", false],
    ["global", "typeof global", false],
  ])("detects whether %s needs the Node layer", async (_, expression, needsNode) => {
    const { builder } = await openBuilder();
    expect(
      (
        await builder.build({
          code: component('"x"', `export const used = ${expression};`).replace("run() {}", "run() { return used; }"),
        })
      ).needsNode,
    ).toBe(needsNode);
  });

  test("keeps the names of functions and classes", async () => {
    const { builder } = await openBuilder();
    const build = await builder.build({
      code: component("[class LongName {}.name, (() => { function deep() {} return deep.name })()].join()"),
    });
    expect(build.definition.name).toBe("LongName,deep");
  });

  test("drops imports of built-ins that are not used", async () => {
    const { builder } = await openBuilder();
    expect((await builder.build({ code: component('"x"', 'import fs from "fs";') })).needsNode).toBe(false);
  });

  test("has a source map from the bundle to the user's line", async () => {
    const { builder, stored } = await openBuilder();
    const build = await builder.build({
      code: 'const a = 1;\n\nfunction fail() {\n  throw new Error("x" + a);\n}\nexport default { name: "x", run() { fail(); } };\n',
    });
    const loaded = await evaluate(stored.get(build.bundle) ?? "");
    const stack = await Promise.resolve()
      .then(loaded["run"] as () => void)
      .catch(({ stack }: Error) => stack ?? "");
    const mapped = createStackMapper(stored.get(`${build.bundle}.map`) ?? "").mapStack(String(stack));
    expect(mapped).toMatch(/^Error: x1\n    at fail \(component\.js:4:9\)\n    at \S*run \(component\.js:6:37\)/);
  });
});

describe("a repeated build", () => {
  test("is served from memory, or from the disk after a restart", async () => {
    const first = await openBuilder();
    const code = component();
    const build = await first.builder.build({ code });
    expect(await first.builder.build({ code })).toEqual(build);
    expect(first.inspections()).toBe(1);
    const second = await openBuilder({ directory: first.directory });
    expect(await second.builder.build({ code })).toEqual(build);
    expect(second.inspections()).toBe(0);
    // Its store was empty: the bundle came from the disk.
    expect(second.stored.has(build.bundle)).toBe(true);
  });

  test("runs once when it is requested concurrently", async () => {
    const { builder, inspections } = await openBuilder();
    await Promise.all(Array.from({ length: 10 }, () => builder.build({ code: component() })));
    expect(inspections()).toBe(1);
  });

  test("runs again when the bundle is missing everywhere", async () => {
    const { builder, stored, directory, inspections } = await openBuilder();
    const build = await builder.build({ code: component() });
    stored.clear();
    await rm(join(directory, "bundles"), { recursive: true });
    await mkdir(join(directory, "bundles"));
    expect(await builder.build({ code: component() })).toEqual(build);
    expect([inspections(), stored.has(build.bundle)]).toEqual([2, true]);
  });

  test("runs again after a failure", async () => {
    const { builder, inspections } = await openBuilder();
    for (const _ of [1, 2]) await failure(builder.build({ code: "export default {}" }));
    expect(inspections()).toBe(2);
  });

  test("ignores files left by a process that died", async () => {
    const { builder, directory } = await openBuilder();
    await builder.build({ code: component() });
    expect((await readdir(join(directory, "builds"))).every((name) => name.endsWith(".json"))).toBe(true);
  });
});

describe("a component is refused", () => {
  test("for a syntax error, with line, column and a code frame", async () => {
    const { builder } = await openBuilder();
    const error = await failure(builder.build({ code: 'export default {\n  name: "x"\n  run() {},\n};\n' }));
    expect(error).toMatchObject({
      status: 422,
      code: "syntax_error",
      message: 'component.js:3:3: Expected "}" but found "run"',
    });
    expect(error.details).toEqual({
      line: 3,
      column: 3,
      text: '  1 | export default {\n  2 |   name: "x"\n> 3 |   run() {},\n    |   ^\n  4 | };',
    });
  });

  test("for a syntax error in TypeScript, with the message of the TypeScript parser", async () => {
    const { builder } = await openBuilder();
    const error = await failure(builder.build({ code: "interface A { b: number }\nconst a: A = { b: 1 };\nexport default {,};\n" }));
    expect(error.message).toBe('component.js:3:17: Expected identifier but found ","');
  });

  test.each([
    ["../../../package.json", "it leads above the folder that holds the component's files"],
    ["/etc/passwd", "modules are named by paths relative to the importing one, such as ./util.mjs, or come from npm by name"],
    ["file:///etc/passwd", "modules come from npm by name, not from an address"],
    ["https://example.com/x.js", "modules come from npm by name, not from an address"],
    ["data:text/javascript,export default 1", "modules come from npm by name, not from an address"],
    ["node:nothing", "Node has no built-in module of this name"],
    ["#private", "names that begin with # belong to a package's own package.json"],
    ["x@file:..", '"file:.." is no version, semver range or tag (right: "x@1.2.3", "x@^1")'],
  ])("for an import of %s, however it is written", async (path, reason) => {
    const { builder } = await openBuilder();
    const quoted = JSON.stringify(path);
    for (const code of [
      `import x from ${quoted};`,
      `import x from ${quoted} with { type: "json" };`,
      `const x = require(${quoted});`,
      `const x = await import(${quoted});`,
      `export * from ${quoted};`,
    ]) {
      const error = await failure(builder.build({ code: component('"x"', `// first line\n${code}`) }));
      expect(error).toMatchObject({ status: 422, code: "import_refused" });
      expect(error.message).toMatch(/^component\.js:2:\d+: /);
      expect(error.message).toContain(`import "${path}" is refused: ${reason}`);
    }
  });

  test("for an error during evaluation, with the user's own line", async () => {
    const { builder } = await openBuilder();
    const error = await failure(
      builder.build({
        code: 'const nothing = undefined;\n\nfunction deep() {\n  return nothing.field;\n}\ndeep();\nexport default { name: "x", run() {} };\n',
      }),
    );
    expect(error).toMatchObject({ status: 422, code: "evaluation_error" });
    expect(error.message).toBe("component.js:4:18: TypeError: Cannot read properties of undefined (reading 'field')");
    expect(error.details["text"]).toContain("> 4 |   return nothing.field;");
    expect(error.details["text"]).toContain("at deep (component.js:4:18)\n    at component.js:6:1");
  });

  test("for an await that never ends, within the time limit", async () => {
    const { builder } = await openBuilder({ limits: { inspectMs: 200 } });
    expect(await failure(builder.build({ code: component('"x"', "await new Promise(() => {});") }))).toMatchObject({
      status: 422,
      code: "evaluation_timeout",
    });
  });

  test("for too much code", async () => {
    const { builder } = await openBuilder();
    expect(await failure(builder.build({ code: `//${"ä".repeat(2 ** 19)}` }))).toMatchObject({
      status: 413,
      code: "code_too_large",
      message: "the code is 1048578 bytes, 1048576 are allowed: import what it contains from npm, or fetch it at run time",
    });
  });

  test("for a bundle that is too large", async () => {
    const { builder } = await openBuilder({ limits: { bundleBytes: 1_000 } });
    const error = await failure(builder.build({ code: component('"x"', `export const a = "${"x".repeat(1_000)}"; globalThis.a = a;`) }));
    expect(error).toMatchObject({ status: 413, code: "bundle_too_large" });
  });

  test("when it kills the bundler, and the next build succeeds", async () => {
    const { builder } = await openBuilder();
    const deep = failure(builder.build({ code: "!".repeat(2 ** 20) }));
    const others = ["1", "2"].map((name) => builder.build({ code: component(`"${name}"`) }));
    expect(await deep).toMatchObject({ status: 422, code: "code_too_complex" });
    expect((await Promise.all(others)).map(({ definition }) => definition.name)).toEqual(["1", "2"]);
  });

  test("when it keeps the bundler busy, within the time limit", async () => {
    const { builder } = await openBuilder({ limits: { scanMs: 1_000 } });
    const error = await failure(builder.build({ code: `x=(${"a,".repeat(500_000)}a)` }));
    expect(error.status).toBe(422);
    expect((await builder.build({ code: component() })).definition.name).toBe("x");
  });

  test.each([["\0".repeat(1_000)], ["import".repeat(1_000)], ["`${".repeat(1_000)], ["<!--"], [""]])(
    "when it is not a module: %j",
    async (code) => {
      const { builder } = await openBuilder();
      expect((await failure(builder.build({ code }))).status).toBe(422);
    },
  );
});

describe("limits of a builder", () => {
  test("an inspector that hangs fails with the step's name within the time limit of the whole build", async () => {
    const { builder } = await openBuilder({
      limits: { buildMs: hangMs },
      inspector: { inspect: () => new Promise(() => {}) },
    });
    const error = await failure(builder.build({ code: component() }));
    expect(error).toMatchObject({
      status: 422,
      code: "build_timeout",
      message: "the build took longer than 5 s; it was evaluating the component",
    });
  });

  test("a registry that hangs fails within the time limit, reported as the registry's fault", async () => {
    const silent = await listen(() => {});
    const { builder } = await openWholeBuilder({ npm: { registry: silent }, limits: { buildMs: hangMs } });
    expect(await failure(builder.build({ code: component('"x"', 'import "one";') }))).toMatchObject({
      status: 503,
      code: "build_timeout",
      message: "the build took longer than 5 s; it was installing packages",
    });
  });

  test("builds beyond the length of the queue are refused", async () => {
    const { promise, resolve } = Promise.withResolvers<{ outcome: "rejected"; code: string; message: string }>();
    const { builder } = await openBuilder({ limits: { waiting: 2 }, inspector: { inspect: () => promise } });
    const begun = [component('"1"'), component('"2"')].map((code) => failure(builder.build({ code })));
    expect(await failure(builder.build({ code: component('"3"') }))).toMatchObject({
      status: 503,
      code: "builder_busy",
    });
    resolve({ outcome: "rejected", code: "no_run", message: "none" });
    await Promise.all(begun);
  });

  test("a stopped builder refuses new builds, after running ones have ended", async () => {
    const { builder } = await openBuilder();
    const begun = builder.build({ code: component() });
    await builder.stop();
    await begun;
    expect(await failure(builder.build({ code: component() }))).toMatchObject({ status: 503 });
  });

  test("the role serves requests until it is stopped", async () => {
    let serve: (request: BuildRequest) => Promise<Build> = () => Promise.reject(new Error("not serving"));
    const { directory } = await openBuilder();
    const role = await startBuilder({
      directory,
      inspector: { inspect: async () => ({ outcome: "rejected", code: "no_run", message: "none" }) },
      bundles: { keep: async () => false, store: async () => {} },
      addresses: { read: async () => ({ outcome: "missing", status: 404 }) },
      requests: {
        serve: async ({ build }) => {
          serve = build;
          return {
            stop: async () => {
              serve = () => Promise.reject(new Error("gone"));
            },
          };
        },
      },
    });
    expect(await failure(serve({ code: component() }))).toMatchObject({ code: "no_run" });
    await role.stop();
    expect((await failure(serve({ code: component() }))).message).toBe("gone");
  });
});
