import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createStackMapper } from "../../../builder/bundle/source-map.ts";
import { startRegistry } from "./registry.ts";
import { evaluate, failure, openBuilder } from "./support.ts";

/** A component whose name is the value of an expression. */
const named = (expression: string, imports = ""): string => `${imports}\nexport default { name: String(${expression}), run() {} };\n`;
const version = (of: string, text: string) => ({ name: of, version: text, files: { "index.js": `module.exports = "${of} ${text}"` } });

describe("modules of a component", () => {
  test.each([
    ["exactly", "./util.mjs", { "sources/util.mjs": "export default 'found'" }],
    ["without an extension", "./util", { "sources/util.ts": "const text: string = 'found'; export default text" }],
    ["by an extension that is none", "../x.app", { "x.app.mjs": "export default 'found'" }],
    ["as a folder", "../common", { "common/index.mjs": "export default 'found'" }],
    ["as a folder with a slash", "../common/", { "common/index.js": "export default 'found'" }],
    ["as their own folder", ".", { "sources/index.mjs": "export default 'found'" }],
    ["as .js though written in TypeScript", "./util.js", { "sources/util.ts": "export default 'found' as string" }],
    ["as .mjs though written in TypeScript", "./util.mjs", { "sources/util.mts": "export default 'found' as string" }],
    ["as CommonJS", "./util.cjs", { "sources/util.cjs": "module.exports = 'found'" }],
    ["as text", "./query.graphql", { "sources/query.graphql": "found" }],
    ["beside one that is never imported and is no module", "./util", { "sources/util.js": "export default 'found'", "README.md": "# }{" }],
    [
      "in a circle",
      "./a.mjs",
      { "sources/a.mjs": "export { default } from './b.mjs'", "sources/b.mjs": "import './a.mjs'; export default 'found'" },
    ],
  ])("can be imported %s", async (_, specifier, files) => {
    const { builder } = await openBuilder();
    const code = named("found", `import found from ${JSON.stringify(specifier)};`);
    expect((await builder.build({ code, entry: "sources/new.mjs", files })).definition.name).toBe("found");
  });

  test.each([
    ['import data from "./data.json";', "data.a"],
    ['import data from "./data.json" with { type: "json" };', "data.a"],
    ['import data from "./data.json" assert { type: "json" };', "data.a"],
    ['const data = require("./data.json");', "data.a"],
    ['const data = require("./data");', "data.a"],
    ['const { default: data } = await import("./data.json", { with: { type: "json" } });', "data.a"],
    ['import { a } from "./data.json";', "a"],
  ])("can be JSON: %s", async (imports, expression) => {
    const { builder } = await openBuilder();
    expect((await builder.build({ code: named(expression, imports), files: { "data.json": '{"a":"read"}' } })).definition.name).toBe(
      "read",
    );
  });

  test("can mix CommonJS and ES modules in every direction", async () => {
    const { builder } = await openBuilder();
    const build = await builder.build({
      code: 'const { text } = require("./middle.mjs");\nmodule.exports = { name: text, run() {} };\n',
      entry: "main.cjs",
      files: {
        "middle.mjs": 'import { a } from "./leaf.cjs"; import all from "./leaf.cjs"; export const text = a + all.b;',
        "leaf.cjs": 'exports.a = "1"; exports.b = require("./deep/leaf").c;',
        "deep/leaf.js": 'module.exports = { c: "2" };',
      },
    });
    expect(build.definition.name).toBe("12");
  });

  test("are TypeScript if their names say so", async () => {
    const { builder } = await openBuilder();
    // In JavaScript this is a comparison and a call.
    const build = await builder.build({ code: named("id<string>('x')", "const id = <T,>(x: T) => x;"), entry: "a/new.ts" });
    expect(build.definition.name).toBe("x");
  });

  test("do not change code_hash, but a change in one of them makes another bundle", async () => {
    const { builder, inspections } = await openBuilder();
    const code = named("a + b", 'import a from "./a.mjs";\nimport b from "./b.mjs";');
    const files = { "a.mjs": "export default 1", "b.mjs": "export default '2'" };
    const first = await builder.build({ code, files });
    const reordered = await builder.build({ code, files: { "b.mjs": files["b.mjs"], "a.mjs": files["a.mjs"] } });
    expect(first.codeHash).toBe(createHash("sha256").update(code).digest("hex"));
    expect([reordered, inspections()]).toEqual([first, 1]);
    const other = await builder.build({ code, files: { ...files, "b.mjs": "export default '3'" } });
    expect(other.codeHash).toBe(first.codeHash);
    expect([other.bundle === first.bundle, other.definition.name]).toEqual([false, "13"]);
  });
});

describe("what cannot be imported", () => {
  test.each([
    ["above the root", "../../x.mjs", "import_refused", 'import "../../x.mjs" is refused: it leads above the folder'],
    ["above the root and back", "../../app/x.mjs", "import_refused", "it leads above the folder"],
    ["on the builder's disk", "/etc/passwd", "import_refused", "modules are named by paths relative"],
    [
      "that is not there",
      "./gone.mjs",
      "import_not_found",
      'a/b.mjs imports "./gone.mjs", which is not among the component\'s files: looked for a/gone.mjs, a/gone.mts',
    ],
    [
      "without an extension that is not there",
      "./gone",
      "import_not_found",
      "looked for a/gone, a/gone.mjs, a/gone.js, a/gone.ts and with other extensions",
    ],
    ["in another spelling", "./B.mjs", "import_not_found", "looked for a/B.mjs"],
  ])("reports %s with the importing module", async (_, specifier, code, message) => {
    const { builder } = await openBuilder();
    for (const statement of [`import x from "${specifier}";`, `require("${specifier}");`, `await import("${specifier}");`]) {
      const error = await failure(
        builder.build({ code: named("1", 'import "./a/b.mjs";'), entry: "m.mjs", files: { "a/b.mjs": `// first\n${statement}` } }),
      );
      expect(error).toMatchObject({ status: 422, code, details: { file: "a/b.mjs", line: 2 } });
      expect(error.message).toMatch(/^a\/b\.mjs:2:\d+: /);
      expect(error.message).toContain(message);
    }
  });

  /** esbuild resolves computed paths on the disk, past all plugins. */
  test("reports a computed path, without revealing anything about the builder's disk", async () => {
    const { builder } = await openBuilder();
    const climb = "../".repeat(100);
    const refusals = new Set<string>();
    for (const path of ["./data/", `${climb}etc/ssl/`, `${climb}nothing/here/`]) {
      for (const call of [`await import("${path}" + name)`, `require(\`${path}\${name}\`)`, `import("${path}" + name + ".json")`]) {
        const error = await failure(
          builder.build({ code: named("1", `const name = globalThis.name;\n${call};`), files: { "data/a.json": "1" } }),
        );
        expect(error).toMatchObject({ status: 422, code: "import_refused" });
        refusals.add(error.message.replace(/^component\.js:2:\d+: /, ""));
      }
    }
    expect([...refusals]).toEqual([expect.stringContaining("the path of an import is computed")]);
  });

  test("does not read source maps that a module names", async () => {
    const { builder, stored } = await openBuilder();
    const map = Buffer.from(JSON.stringify({ version: 3, sources: ["elsewhere.ts"], names: [], mappings: "AAAA" })).toString("base64");
    const code = `${named('"x"')}//# sourceMappingURL=data:application/json;base64,${map}\n`;
    const build = await builder.build({ code });
    expect(stored.get(`${build.bundle}.map`)).not.toContain("elsewhere");
    expect(build.codeHash).toBe(createHash("sha256").update(code).digest("hex"));
  });

  test("reports a name that a module does not export", async () => {
    const { builder } = await openBuilder();
    const error = await failure(
      builder.build({ code: named("b", 'import { b } from "./a.mjs";'), files: { "a.mjs": "export const a = 1" } }),
    );
    expect(error).toMatchObject({ code: "export_not_found", message: 'component.js:1:10: No matching export in "a.mjs" for import "b"' });
  });

  test("shows a syntax error in the right module", async () => {
    const { builder } = await openBuilder();
    const error = await failure(
      builder.build({
        code: named("1", 'import "./lib/a.mjs";'),
        entry: "m.mjs",
        files: { "lib/a.mjs": "export const a = {\n  b c\n};\n" },
      }),
    );
    expect(error).toMatchObject({ code: "syntax_error", message: 'lib/a.mjs:2:5: Expected "}" but found "c"' });
    expect(error.details).toEqual({
      file: "lib/a.mjs",
      line: 2,
      column: 5,
      text: "  1 | export const a = {\n> 2 |   b c\n    |     ^\n  3 | };",
    });
  });

  test("shows where an error was thrown during evaluation, with modules named by their paths in the stack", async () => {
    const { builder, stored } = await openBuilder();
    const files = { "lib/a.mjs": "export function fail() {\n  throw new TypeError('no');\n}\n" };
    const error = await failure(builder.build({ code: named("fail()", 'import { fail } from "./lib/a.mjs";'), entry: "m.mjs", files }));
    expect(error.message).toBe("lib/a.mjs:2:9: TypeError: no");
    expect(error.details["text"]).toContain("> 2 |   throw new TypeError('no');");
    expect(error.details["text"]).toMatch(/at fail \(lib\/a\.mjs:2:9\)\n\s+at m\.mjs:2:\d+/);
    const build = await builder.build({
      code: 'import { fail } from "./lib/a.mjs";\nexport default { name: "x", run() { fail(); } };\n',
      entry: "m.mjs",
      files,
    });
    const loaded = await evaluate(stored.get(build.bundle) ?? "");
    const thrown = await failure(
      Promise.resolve()
        .then(loaded["run"] as () => void)
        .catch(({ stack }: Error) => Promise.reject(new Error(String(stack)))),
    );
    expect(createStackMapper(stored.get(`${build.bundle}.map`) ?? "").mapStack(thrown.message)).toMatch(
      /at fail \(lib\/a\.mjs:2:9\)\n\s+at \S*run \(m\.mjs:2:\d+\)/,
    );
  });

  test.each([
    [{ files: { "../a.mjs": "" } }, 422, "invalid_path"],
    [{ entry: "a\\b.mjs" }, 422, "invalid_path"],
    [{ entry: "a.mjs", files: { "a.mjs": "other" } }, 422, "entry_twice"],
    [{ files: { "a.txt": "x".repeat(2 ** 20) } }, 413, "code_too_large"],
    [{ files: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${n}.js`, ""])) }, 413, "too_many_files"],
  ])("refuses files that violate a rule: %#", async (fields, status, code) => {
    const { builder } = await openBuilder();
    expect(await failure(builder.build({ code: named("1"), ...fields }))).toMatchObject({ status, code });
  });
});

describe("package.json among the files", () => {
  test("names the versions: the nearest one upward that lists the package wins, an import's own version wins over it", async () => {
    const { npm } = await startRegistry(["1.0.0", "1.5.0", "2.0.0", "3.0.0"].map((text) => version("one", text)));
    const { builder } = await openBuilder({ npm });
    const build = await builder.build({
      code: named('[one, near, above, asked].join(", ")', 'import one from "one";\nimport { near, above, asked } from "./lib/deep/a.mjs";'),
      entry: "m.mjs",
      files: {
        "package.json": JSON.stringify({ dependencies: { one: "^1.0.0", unused: "^7" } }),
        "lib/package.json": JSON.stringify({ dependencies: { one: "2" } }),
        "lib/b.mjs": 'export { default as above } from "one";',
        "lib/deep/package.json": JSON.stringify({ name: "deep" }),
        "lib/deep/a.mjs": 'import near from "one";\nimport asked from "one@1.0.0";\nexport * from "../b.mjs";\nexport { near, asked };',
      },
    });
    expect(build.definition.name).toBe("one 1.5.0, one 2.0.0, one 2.0.0, one 1.0.0");
  });

  test("may name another package", async () => {
    const { npm } = await startRegistry([version("one", "1.0.0"), version("two", "2.0.0")]);
    const { builder } = await openBuilder({ npm });
    const files = { "package.json": '{"dependencies":{"one":"npm:two@^2"}}' };
    expect((await builder.build({ code: named("one", 'import one from "one";'), files })).definition.name).toBe("two 2.0.0");
  });

  test.each([
    [
      '{"dependencies":{"one":"file:../secret"}}',
      "import_refused",
      'package.json asks for "file:../secret", and only versions, semver ranges and tags',
    ],
    ['{"dependencies":{"one":"github:a/b"}}', "import_refused", 'package.json asks for "github:a/b"'],
    ['{"dependencies":{"one":"workspace:*"}}', "import_refused", 'package.json asks for "workspace:*"'],
    ['{"dependencies":{"one":"npm:../x"}}', "import_refused", 'package.json asks for "npm:../x"'],
    ['{"dependencies":{"one":1}}', "invalid_package_json", "package.json is no package.json"],
    ["{", "invalid_package_json", "package.json is no package.json"],
    ['{"dependencies":{"one":"^9"}}', "version_not_found", 'package one has no version matching "^9"; the latest is 1.0.0'],
  ])("with %s is refused", async (text, code, message) => {
    const { npm } = await startRegistry([version("one", "1.0.0")]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: named("one", 'import one from "one";'), files: { "package.json": text } }));
    expect(error).toMatchObject({ status: 422, code });
    expect(error.message).toContain(message);
  });

  test("is not read if nothing needs it", async () => {
    const { builder } = await openBuilder();
    expect((await builder.build({ code: named("1"), files: { "package.json": "{" } })).definition.name).toBe("1");
  });
});

describe("packages", () => {
  const scoped = (text: string) => ({
    ...version("@s/c", text),
    files: { "index.js": `module.exports = "c ${text}"`, "deep/x.js": `exports.x = "x ${text}"` },
  });

  test("can be installed in several versions at once, also scoped ones and their subpaths", async () => {
    const { npm } = await startRegistry([scoped("1.0.0"), scoped("1.2.0"), scoped("2.0.0")]);
    const { builder } = await openBuilder({ npm });
    const imports =
      'import a from "@s/c";\nimport b from "@s/c@1.0.0";\nimport { x } from "@s/c@^1/deep/x.js";\nimport { c } from "./c.cjs";';
    const build = await builder.build({
      code: named("[a, b, x, c].join()", imports),
      files: { "c.cjs": 'exports.c = require("@s/c@~1.0/deep/x").x;' },
    });
    expect(build.definition.name).toBe("c 2.0.0,c 1.0.0,x 1.2.0,x 1.0.0");
  });

  test("are installed despite conflicting peers, and again from the lockfile", async () => {
    const plugin = { name: "plugin", peerDependencies: { core: "^1" }, files: { "index.js": 'exports.core = require("core")' } };
    const { npm } = await startRegistry([version("core", "1.0.0"), version("core", "2.0.0"), plugin]);
    const code = named("[core, plugin.core].join()", 'import core from "core@2";\nimport plugin from "plugin";');
    const build = await (await openBuilder({ npm })).builder.build({ code });
    expect(build.definition.name).toMatch(/^core 2\.0\.0,core [12]\.0\.0$/);
    const unversioned = await (await openBuilder({ npm })).builder.build({ code: code.replace("core@2", "core") });
    expect(unversioned.definition.name).toBe("core 1.0.0,core 1.0.0");
    expect(await (await openBuilder({ npm })).builder.build({ code, lockfile: build.lockfile })).toEqual(build);
  });

  test("from a recorded lockfile make an identical bundle when the registry has newer versions", async () => {
    const packages = [version("one", "1.0.0"), scoped("1.0.0"), { ...version("two", "1.0.0"), dependencies: { one: "^1" } }];
    const { npm } = await startRegistry(packages);
    const component = {
      code: named("[one, two, x].join()", 'import { one, two } from "./a.mjs";\nimport { x } from "@s/c@1/deep/x.js";'),
      entry: "sources/m.mjs",
      files: {
        "sources/a.mjs": 'import one from "one";\nimport two from "two";\nexport { one, two };',
        "package.json": '{"dependencies":{"one":"^1.0.0"}}',
      },
    };
    const first = await openBuilder({ npm });
    const build = await first.builder.build(component);
    packages.push(version("one", "1.9.0"), scoped("1.1.0"), version("two", "2.0.0"));
    const second = await openBuilder({ npm });
    const again = await second.builder.build({ ...component, lockfile: build.lockfile });
    expect(again).toEqual(build);
    expect(second.stored.get(again.bundle)).toBe(first.stored.get(build.bundle));
    expect(second.stored.get(`${again.bundle}.map`)).toBe(first.stored.get(`${build.bundle}.map`));
    const newer = await (await openBuilder({ npm })).builder.build(component);
    expect([build.definition.name, newer.definition.name]).toEqual(["one 1.0.0,two 1.0.0,x 1.0.0", "one 1.9.0,two 2.0.0,x 1.1.0"]);
  });

  test("report the requested, installed and importable versions", async () => {
    const one = { ...version("one", "1.4.0"), exports: { ".": "./index.js", "./part": "./index.js" } };
    const { npm } = await startRegistry([one]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: named("x", 'import x from "one@^1.2/none.js";') }));
    const esm = { name: "esm", version: "3.1.0", type: "module", files: { "index.js": "export const there = 1;" } };
    const other = await openBuilder({ npm: (await startRegistry([esm])).npm });
    for (const [imports, says] of [
      ['import { gone } from "esm@^3";', 'component.js:1:10: package esm 3.1.0 (asked for: ^3) has no export "gone"'],
      ['import gone from "esm";', "component.js:1:8: package esm 3.1.0 (asked for: the latest) has no default export"],
    ] as const) {
      expect(await failure(other.builder.build({ code: named("gone", imports) }))).toMatchObject({
        code: "export_not_found",
        message: says,
        details: { package: "esm" },
      });
    }
    expect(error.message).toBe(
      'component.js:1:15: package one 1.4.0 (asked for: ^1.2) has nothing to import under "one/none.js"; it offers "one", "one/part"',
    );
  });
});
