import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startRegistry } from "../../integration/builder/registry.ts";
import { failure, openWholeBuilder } from "../../integration/builder/support.ts";
import { until } from "../../support/until.ts";
import { importing, verdict } from "./hostile-packages.ts";

/** Packages that attack the builder: each is installed from a registry. */
describe("packages", () => {
  const up = "../".repeat(20);
  it.each([
    ["whose files exist", `${up}etc/`],
    ["that does not exist", `${up}no-such-folder/`],
    ["that matches no file", `${up}etc/no-such-beginning`],
  ])("learn nothing by a computed path to a folder %s", async (_, path) => {
    const error = "one/index.js:1: a package imports a file outside the packages";
    expect(await verdict(`module.exports = 1; exports.f = (x) => require("${path}" + x)`)).toBe(error);
    expect(await verdict(`module.exports = 1; exports.f = (x) => import(\`${path}\${x}\`)`)).toBe(error);
  });

  it("cannot bundle a file of another owner's packages by a computed path after that file was bundled for its owner", async () => {
    const files = { "index.js": `module.exports = require("./secret")`, "secret.js": `module.exports = "secret"` };
    const { npm } = await startRegistry([{ name: "victim", files }]);
    const { builder, directory } = await openWholeBuilder({ npm });
    const own = await builder.build({ code: importing.replace('"one"', '"victim"'), owner: "u_victim" });
    expect(own.definition.name).toBe('"secret"');
    const [set = ""] = readdirSync(join(directory, "sets"));
    const path = `../../../${set}/node_modules/victim/`;
    const error = "one/index.js:1: a package imports a file outside the packages";
    expect(await verdict(`module.exports = ((x) => require("${path}s" + x))("ecret.js")`, {}, { directory })).toBe(error);
  });

  it("may compute a path among their own files", async () => {
    expect(
      await verdict(`const read = (x) => require("./parts/" + x); module.exports = read("a.js")`, {
        files: { "parts/a.js": "module.exports = 1" },
      }),
    ).toBe("built 1");
  });

  it.each(["/dev/zero", "file:///dev/zero", `${up}dev/zero`, "..%2f..%2findex.js", "/proc/self/environ"])(
    "have no source map read from elsewhere: %s",
    async (url) => {
      expect(await verdict(`module.exports = 1\n//# sourceMappingURL=${url}`)).toBe("built 1");
      expect(await verdict(`module.exports = 1\n/*# sourceMappingURL=${url} */`)).toBe("built 1");
    },
  );

  it("cannot have a file read that is larger than a bundle", async () => {
    const files = { "large.json": JSON.stringify("x".repeat(70_000)) };
    const error = await verdict(`module.exports = require("./large.json")`, { files }, { limits: { bundleBytes: 65_536 } });
    expect(error).toBe("one/index.js:1: large.json is 70002 bytes, 65536 bytes are allowed");
  });
});

describe("installed packages", () => {
  /** A tarball's worth of empty files: a few bytes of it each. */
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, ""]));

  it("are limited in number of files, empty ones included", async () => {
    expect(await verdict("module.exports = 1", { files: many }, { limits: { unpackedFiles: 200 } })).toBe(
      "the packages are more than 200 files and folders: import less, or a smaller package; the largest are one (18 bytes)",
    );
    expect(await verdict("module.exports = 1", { files: many }, { limits: { unpackedFiles: 400 } })).toBe("built 1");
  });

  it("end with their process at the time limit, and the next are installed", async () => {
    const { npm } = await startRegistry([{ name: "one", files: { "index.js": "module.exports = 1", ...many } }]);
    const { builder, directory } = await openWholeBuilder({ npm, limits: { buildMs: 150 } });
    // 503 while packages are installed, 422 while they are bundled.
    expect([422, 503]).toContain((await failure(builder.build({ code: importing }))).status);
    const filling = join(directory, "filling");
    await until(() => !existsSync(filling) || readdirSync(filling).length === 0, "the end of what was begun");
    const { builder: next } = await openWholeBuilder({ npm, directory });
    expect((await next.build({ code: importing })).definition.name).toBe("1");
  });

  it.each([
    ["a name with ..", { dependencies: { "../../evil": "*" } }],
    ["a name of Object.prototype", { dependencies: { constructor: "*" } }],
    ["a name that is too long", { dependencies: { ["x".repeat(300)]: "*" } }],
    ["an alias that is a path", { dependencies: { b: "npm:../../evil@1" } }],
    ["an unknown protocol", { dependencies: { b: "workspace:*" } }],
    ["a version that is an object", { dependencies: { b: { a: 1 } as unknown as string } }],
    ["a version of a hundred thousand characters", { dependencies: { b: ">=".repeat(50_000) } }],
  ])("are refused for good, in a few words, for %s", async (_, fields) => {
    const packages = ["b", "../../evil", "constructor", "x".repeat(300)].map((name) => ({ name, files: { "index.js": "" } }));
    const { npm } = await startRegistry([...packages, { name: "one", ...fields, files: { "index.js": "module.exports = 1" } }]);
    const { builder, directory } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: importing }));
    expect(error).toMatchObject({ status: 422, code: "package_refused" });
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).not.toContain(directory);
    expect(readdirSync(join(directory, "filling"))).toEqual([]);
  });
});

describe("the disk", () => {
  it("is not filled by builds: the oldest bundles are deleted, and built again when needed", async () => {
    const { npm } = await startRegistry([{ name: "one", files: { "index.js": "module.exports = 1" } }]);
    const { builder, directory } = await openWholeBuilder({ npm, limits: { keptBytes: 100_000, cacheBytes: 1 } });
    const build = (name: string) =>
      builder.build({ code: `import one from "one";\nexport default { name: "${name}" + one, run() {} };\n` });
    const folders = ["bundles", "builds"].map((name) => join(directory, name));
    for (let index = 0; index < 5; index++) await build(`first${index}`);
    for (const folder of folders) for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0);
    for (let index = 0; index < 12; index++) await build(`then${index}`);
    for (const folder of folders)
      expect(readdirSync(folder).filter((name) => statSync(join(folder, name)).mtimeMs === 0).length).toBeLessThan(10);
    expect(readdirSync(join(directory, "cache"))).toEqual([]);
    expect((await build("first0")).definition.name).toBe("first01");
  });
});
