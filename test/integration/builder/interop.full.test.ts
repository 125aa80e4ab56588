import { describe, expect, test } from "vitest";
import { type FakePackage, startRegistry } from "./registry.ts";
import { failure, openBuilder } from "./support.ts";

/** The name of the component made of `imports` and `name`: what the bundle evaluates to. */
async function nameOf(packages: readonly FakePackage[], imports: string, name: string, entry = "component.js"): Promise<string> {
  const { builder } = await openBuilder({ npm: (await startRegistry(packages)).npm });
  const build = await builder.build({ code: `${imports}\nexport default { name: String(${name}), run() {} };\n`, entry });
  return build.definition.name;
}

const compiled = {
  name: "compiled",
  files: {
    "index.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.part = "part"; exports.default = "its default";`,
  },
};

describe("a default import", () => {
  test.each(["component.js", "a.mjs", "a.ts", "deep/a.mts"])("of a CommonJS package is its exports, as in Node: in %s", async (entry) => {
    expect(await nameOf([compiled], 'import it from "compiled";', "[it.part, it.default]", entry)).toBe("part,its default");
  });

  test("works in a module beside the entry, too", async () => {
    const { builder } = await openBuilder({ npm: (await startRegistry([compiled])).npm });
    const files = { "common/it.js": 'import it from "compiled"; export const part = it.part;' };
    const code = 'import { part } from "../common/it"; export default { name: part, run() {} };';
    expect((await builder.build({ code, entry: "sources/a.mjs", files })).definition.name).toBe("part");
    const wrong = await failure(builder.build({ code: code.replaceAll("part", "gone"), entry: "sources/a.mjs", files }));
    expect(wrong.message).toBe('sources/a.mjs:1:10: No matching export in "common/it.js" for import "gone"');
  });

  test("in CommonJS is the value that `require` returns", async () => {
    const { builder } = await openBuilder({ npm: (await startRegistry([compiled])).npm });
    const code = 'const it = require("compiled"); module.exports = { name: it.part, run() {} };';
    expect((await builder.build({ code })).definition.name).toBe("part");
  });
});

test("keeps CommonJS sloppy, as in Node, and a component with an ES module strict", async () => {
  const { builder } = await openBuilder({ npm: (await startRegistry([])).npm });
  const sloppy = "for (found of ['a', 'b']) last = found; module.exports = { name: last, run() {} };";
  expect((await builder.build({ code: sloppy })).definition.name).toBe("b");
  const app = { "app.js": "for (key in { a: 1 }) last = key; exports.last = last;" };
  const requiring = 'module.exports = { name: require("../app").last, run() {} };';
  expect((await builder.build({ code: requiring, entry: "sources/x.js", files: app })).definition.name).toBe("a");
  const importing = 'import { last } from "../app.js"; export default { name: last, run() {} };';
  expect((await failure(builder.build({ code: importing, entry: "sources/x.mjs", files: app }))).message).toContain("key is not defined");
  expect((await failure(builder.build({ code: "last = 1; export default { name: 'x', run() {} };" }))).message).toContain(
    "last is not defined",
  );
});

describe("a CommonJS package whose code cannot run in strict mode", () => {
  const texts = {
    "reserved words as names":
      "var package = { a: 1 }, interface = 2, static = 3, yield = 4; exports.delete = () => package.a + interface + static + yield; exports.v = exports.delete();",
    "a with statement": "exports.v = (function (o) { with (o) { return x; } })({ x: 10 });",
    "a variable that is deleted": "var x = 10; exports.v = x; delete x;",
    "await as a name":
      "var await = 1; function f(await) { return await + 4; } exports.await = await; var o = { await: 5 }; exports.v = f(await) + o.await;",
    "names that are not declared": "for (q = 0; q < 10; q++); exports.v = q;",
    "two parameters of one name": "function f(a, a) { return a } exports.v = f(1, 10);",
    "arguments that are assigned": "exports.v = (function () { arguments = 10; return arguments })();",
    "its own caller": "exports.v = (function (n) { return n === 0 ? 10 : arguments.callee(n - 1) })(3);",
  };
  const asEsModule = 'import old from "old";\nexport default { name: String(old.v), run() {} };';
  const asCommonJs = 'const old = require("old");\nmodule.exports = { name: String(old.v), run() {} };';

  test.each(Object.entries(texts))("loads: %s", async (_, text) => {
    const { npm } = await startRegistry([{ name: "old", files: { "index.js": text } }]);
    const { builder } = await openBuilder({ npm });
    expect((await builder.build({ code: asEsModule })).definition.name).toBe("10");
    expect((await builder.build({ code: asCommonJs })).definition.name).toBe("10");
  });

  test("leaves the component strict if the component's code can be", async () => {
    const strict = "export default { name: (function () { return String(this) })(), run() {} };";
    const { npm } = await startRegistry([{ name: "old", files: { "index.js": "exports.v = 1;" } }]);
    const { builder } = await openBuilder({ npm });
    expect((await builder.build({ code: `import "old";\n${strict}` })).definition.name).toBe("undefined");
  });

  test("is refused beside a top-level await that the bundler cannot convert", async () => {
    const { npm } = await startRegistry([{ name: "old", files: { "index.js": texts["reserved words as names"] } }]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: `await null;\n${asEsModule}` }));
    expect(error).toMatchObject({ status: 422, code: "bundle_error" });
    expect(error.message).toMatch(
      /^old\/index\.js:1: "package" is a reserved word: strict code may not hold this, .* move the await into run or a hook$/,
    );
  });

  test("reports the error at the line of its import when it fails in strict and sloppy mode", async () => {
    const { npm } = await startRegistry([{ name: "old", files: { "index.js": "exports.v = missing.length;" } }]);
    const { builder, inspections } = await openBuilder({ npm });
    expect(await failure(builder.build({ code: asEsModule }))).toMatchObject({
      code: "evaluation_error",
      message: expect.stringContaining("missing is not defined"),
    });
    expect(inspections()).toBe(2);
  });

  test("loads as a component of its own, too", async () => {
    const { builder } = await openBuilder({ npm: (await startRegistry([])).npm });
    const code = 'var package = require("./lib"), static = "!"; module.exports = { name: package.interface + static, run() {} };';
    const files = { "lib.js": "var interface = 'old'; exports.interface = interface;" };
    expect((await builder.build({ code, entry: "main.js", files })).definition.name).toBe("old!");
    const broken = await failure(builder.build({ code: "var package = 1; with ({}) {", entry: "main.js" }));
    expect(broken).toMatchObject({ status: 422, code: "syntax_error" });
  });
});

describe("an import without a version", () => {
  const esm: FakePackage & Record<string, unknown> = {
    name: "moved",
    version: "3.0.0",
    type: "module",
    exports: "./index.js",
    files: { "index.js": "export const there = 3;" },
  };
  const versions: readonly FakePackage[] = [
    { name: "moved", version: "1.9.0", files: { "index.js": `module.exports = { old: 1 };`, "sub/a.js": `module.exports = "sub";` } },
    { name: "moved", version: "2.5.0", files: { "index.js": `module.exports = 2;` } },
    esm,
  ];

  test("installs the newest version that exports the imported name", async () => {
    expect(await nameOf(versions, 'import { there } from "moved";', "there")).toBe("3");
    expect(await nameOf(versions, 'import it from "moved";', "it")).toBe("2");
    expect(await nameOf(versions, 'import sub from "moved/sub/a.js";', "sub")).toBe("sub");
  });

  test("records the version in the lockfile", async () => {
    const { npm } = await startRegistry(versions);
    const code = 'import it from "moved"; export default { name: String(it), run() {} };';
    const first = await (await openBuilder({ npm })).builder.build({ code });
    const again = await (await openBuilder({ npm })).builder.build({ code, lockfile: first.lockfile });
    expect([first.definition.name, again.definition.name, again.lockfile]).toEqual(["2", "2", first.lockfile]);
  });

  test("reports an error about the newest version when no version exports the name", async () => {
    const { builder } = await openBuilder({ npm: (await startRegistry(versions)).npm });
    const code = 'import { gone } from "moved"; export default { name: "x" + gone.x, run() {} };';
    // The older versions are CommonJS: any name might exist at run time.
    expect((await failure(builder.build({ code }))).code).toBe("evaluation_error");
    const subpath = code.replace('"moved"', '"moved/none.js"');
    expect(await failure(builder.build({ code: subpath }))).toMatchObject({ details: { package: "moved", version: "3.0.0" } });
  });

  test("keeps a version that is written", async () => {
    const { builder } = await openBuilder({ npm: (await startRegistry(versions)).npm });
    const code = 'import it from "moved@^3"; export default { name: String(it), run() {} };';
    expect((await failure(builder.build({ code }))).message).toContain("package moved 3.0.0 (asked for: ^3) has no default export");
  });
});

describe("packages", () => {
  test("may use `createRequire` to load files beside them", async () => {
    const esm = {
      name: "esm",
      type: "module",
      exports: "./index.js",
      files: {
        "index.js": `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
          const __require2 = /* @__PURE__ */ createRequire(import.meta.url);
          export default [require("./package.json").name, __require2("./part.cjs"), typeof require.resolve];`,
        "part.cjs": `module.exports = "part";`,
      },
    };
    expect(await nameOf([esm], 'import it from "esm";', "it")).toBe("esm,part,function");
    const own = 'import { createRequire } from "module"; const require = createRequire(import.meta.url); const it = require("compiled");';
    expect(await nameOf([compiled], own, "it.part")).toBe("part");
  });

  test("may read files beside them", async () => {
    const reading = {
      name: "reading",
      files: {
        "lib/index.js": `const fs = require("fs"), path = require("path"); module.exports = [fs.readFileSync(__dirname + "/a.txt", "utf8"),
          fs.readFileSync(path.join(__dirname, "../b.txt")).length, fs.readFileSync(require.resolve("./c.js"), { } && "utf8").length];`.replace(
          "{ } && ",
          "",
        ),
        "lib/a.txt": "A",
        "lib/c.js": "throw 1",
        "b.txt": "BB",
      },
      main: "lib/index.js",
    };
    const gone = {
      name: "gone",
      files: {
        "index.js": `const fs = require("fs"); try { fs.readFileSync(__dirname + "/../../../../etc/hosts") } catch (e) { module.exports = e.code }`,
      },
    };
    expect(await nameOf([reading], 'import it from "reading";', "it")).toBe("A,2,7");
    expect(await nameOf([gone], 'import it from "gone";', "it")).toBe("MODULE_NOT_FOUND");
  });

  test("may have modules whose names end in .node", async () => {
    const platform = {
      name: "platform",
      files: { "index.js": `module.exports = require("./shim.node");`, "shim.node.js": `module.exports = "shim";` },
    };
    expect(await nameOf([platform], 'import it from "platform";', "it")).toBe("shim");
  });

  test("named undici are replaced by ours", async () => {
    const undici = { name: "undici", files: { "index.js": "throw new Error('WebAssembly')" } };
    const needing = {
      name: "needing",
      dependencies: { undici: "*" },
      files: { "index.js": `module.exports = typeof require("undici").request;` },
    };
    expect(await nameOf([undici], 'import { fetch, Agent } from "undici";', "[typeof fetch, typeof new Agent()]")).toBe("function,object");
    expect(await nameOf([undici, needing], 'import it from "needing";', "it")).toBe("function");
  });
});

test("with app props need no account if nothing asks for credentials", async () => {
  const app = { name: "app", type: "app", app: "feeds" };
  const definition = { name: "x", type: "source", props: [app], hooks: [], hasAdditionalProps: false } as const;
  const { builder } = await openBuilder({ inspector: { inspect: async () => ({ outcome: "read", definition }) } });
  const needsNoAccounts = async (method: string): Promise<true | undefined> => {
    const code = `const app = { type: "app", app: "feeds", methods: { get() { return ${method}; } } }; export default { name: "x", props: { app }, run() {} };`;
    return (await builder.build({ code })).definition.needsNoAccounts;
  };
  expect([await needsNoAccounts("1"), await needsNoAccounts("this.$auth.api_key")]).toEqual([true, undefined]);
});
