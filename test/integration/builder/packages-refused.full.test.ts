import { describe, expect, test } from "vitest";
import { startRegistry } from "./registry.ts";
import { failure, openWholeBuilder } from "./support.ts";

const component = (imports: string, name = '"x"'): string =>
  `// a component\n${imports}\nexport default { name: ${name}, async run() {} };\n`;
const one = { name: "one", files: { "index.js": 'module.exports = "one"' } };

describe("a package is refused or restricted:", () => {
  test("a version that does not exist, with the latest one", async () => {
    const { npm } = await startRegistry([one]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one@7";') }));
    expect(error).toMatchObject({
      status: 422,
      code: "version_not_found",
      message: 'component.js:2:17: package one has no version matching "7"; the latest is 1.0.0',
    });
  });

  test("a missing dependency of a dependency, with the package that needs it", async () => {
    const { npm } = await startRegistry([{ ...one, dependencies: { gone: "^1" } }]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({
      status: 422,
      code: "package_not_found",
      message: "component.js:2:17: package gone is not in the npm registry (wanted by one): check its name",
    });
  });

  test("a subpath that a package does not have", async () => {
    const { npm } = await startRegistry([one]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import sub from "one/sub.js";') }));
    expect(error).toMatchObject({
      status: 422,
      message: 'component.js:2:17: package one 1.0.0 (asked for: the latest) has nothing to import under "one/sub.js"',
    });
  });

  test.each([
    ["http://127.0.0.1:1/x.tgz", "inner@http://127.0.0.1:1/x.tgz"],
    ["github:a/b", "inner@github:a/b"],
    ["link:../x", "link:../x"],
    ["workspace:*", "workspace:*"],
  ])("a dependency on %s, without fetching it, with the line of the import", async (address, named) => {
    const { npm } = await startRegistry([{ ...one, dependencies: { inner: address } }]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({ status: 422, code: "package_refused" });
    expect(error.message).toContain(
      `depends on ${named}, which is not in the npm registry, and only packages of the registry can be installed: import another version of `,
    );
    if (named.startsWith("inner"))
      expect(error.message).toMatch(/^component\.js:2:17: one depends on .* version of one, or another package$/);
  });

  test.each(["constructor", "toString", "valueOf@1.0.0", "hasOwnProperty/sub.js"])(
    "one named %s, which npm cannot install",
    async (name) => {
      const { npm, requests } = await startRegistry([one]);
      const { builder } = await openWholeBuilder({ npm });
      expect(await failure(builder.build({ code: component(`import x from "${name}";`) }))).toMatchObject({
        status: 422,
        code: "import_refused",
        message: `component.js:2:15: import "${name}" is refused: npm cannot install a package of this name, which is a property of every JavaScript object: use another package`,
      });
      expect(requests).toEqual([]);
    },
  );

  test("one that depends on a package of such a name, with the same message", async () => {
    const { npm } = await startRegistry([
      { ...one, dependencies: { constructor: "*" } },
      { name: "constructor", files: { "index.js": "" } },
    ]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({ status: 422, code: "package_refused" });
    expect(error.message).toContain("depends on a package named like a property of every JavaScript object");
  });

  test("a bundle that is too large, with its biggest packages", async () => {
    // Each file alone is under the limit.
    const text = (files: number) => ({
      "index.js": Array.from({ length: files }, (_, index) => `exports.a${index} = require("./${index}");`).join(""),
      ...Object.fromEntries(Array.from({ length: files }, (_, index) => [`${index}.js`, `module.exports = "${"x".repeat(1_000_000)}"`])),
    });
    const { npm } = await startRegistry([
      { name: "@scope/large", files: text(3) },
      { name: "@scope/large", version: "2.0.0", dependencies: { inner: "*" }, files: { "index.js": 'module.exports = require("inner")' } },
      { name: "inner", files: text(1) },
      { name: "small", files: { "index.js": "module.exports = 1" } },
    ]);
    const { builder } = await openWholeBuilder({ npm, limits: { bundleBytes: 2 ** 20 } });
    const code = `import a from "@scope/large@1"; import b from "@scope/large@2"; import c from "small";\n${component("", "a + b + c")}`;
    const error = await failure(builder.build({ code }));
    expect(error).toMatchObject({ status: 413, code: "bundle_too_large" });
    expect(error.message).toMatch(
      /^the bundle is 3\.8 MiB, 1 MiB are allowed; most of it is @scope\/large \(2\.9 MiB\), inner \(1000\d+ bytes\): import less/,
    );
    expect(error.details).toMatchObject({ largest: [{ name: "@scope/large" }, { name: "inner" }] });
  });
});
