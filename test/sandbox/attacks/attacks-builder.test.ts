import { readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createStackMapper } from "../../../builder/bundle/source-map.ts";
import { withPlainRequire } from "../../../builder/scan/created-require.ts";
import { withFilesBeside } from "../../../builder/scan/read-beside.ts";
import { startRegistry, type FakePackage } from "../../integration/builder/registry.ts";
import { failure, openBuilder } from "../../integration/builder/support.ts";
import { until } from "../processes.ts";

/** Components and packages that attack the builder: they block it for others, or try to read its disk. */
const megabyte = (piece: string): string => piece.repeat(2 ** 20 / piece.length);

/** Quadratic, a megabyte of these took from fifteen minutes to half a day of a core; now none takes a second. */
const isQuick = (work: (text: string) => unknown, piece: string, before: string): boolean => {
  const start = process.cpuUsage();
  work(before + megabyte(piece));
  const { user, system } = process.cpuUsage(start);
  return user + system < 20_000_000;
};

describe("hostile texts matched by regular expressions", () => {
  const making = "createRequire(import.meta.url);";
  it.each([
    ["one word", "a", making],
    ["a repeated word", "createRequire", ""],
    ["words with signs", "a$", making],
    ["assignments", "a=", making],
    ["unterminated comments", "a=/*", making],
    ["spaces", " ", `${making}a`],
  ])("take no longer for their shape: requires of %s", (_, piece, before) => {
    expect(isQuick(withPlainRequire, piece, before)).toBe(true);
  });

  it.each([
    ["words with signs", "a$", "readFileSync("],
    ["paths", "path", "x.readFileSync("],
    ["calls", "x.readFileSync(path", ""],
    ["quotes", `x.readFileSync(__dirname+"`, ""],
    ["spaces", " ", "x.readFileSync("],
  ])("take no longer for their shape: files beside in %s", (_, piece, before) => {
    expect(isQuick(withFilesBeside, piece, before)).toBe(true);
  });

  it("match only lines that a stack frame can have", () => {
    const mapper = createStackMapper(JSON.stringify({ version: 3, sources: ["a.mjs"], names: [], mappings: "AAAA" }));
    expect(mapper.mapStack("Error: x\n    at f (component.js:1:1)")).toBe("Error: x\n    at f (a.mjs:1:1)");
    expect(mapper.mapStack(`Error: x\n    at ${" (".repeat(4_000)}:${"1".repeat(4_000)}`)).toBe("Error: x");
  });
});

const importing = 'import one from "one";\nexport default { name: JSON.stringify(one), run() {} };\n';

/** What the builder says of a package with such a main module. */
async function verdict(text: string, fields: Partial<FakePackage> = {}, options: Parameters<typeof openBuilder>[0] = {}): Promise<string> {
  const { npm } = await startRegistry([{ name: "one", ...fields, files: { "index.js": text, ...fields.files } }]);
  const { builder } = await openBuilder({ npm, ...options });
  return await builder.build({ code: importing, owner: "u_attacker" }).then(
    ({ definition }) => `built ${definition.name}`,
    (error: Error) => error.message,
  );
}

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
    const { builder, directory } = await openBuilder({ npm });
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
      "the packages are more than 200 files and folders: import less, or a smaller package",
    );
    expect(await verdict("module.exports = 1", { files: many }, { limits: { unpackedFiles: 400 } })).toBe("built 1");
  });

  it("end with their process at the time limit, and the next are installed", async () => {
    const { npm } = await startRegistry([{ name: "one", files: { "index.js": "module.exports = 1", ...many } }]);
    const { builder, directory } = await openBuilder({ npm, limits: { buildMs: 150 } });
    expect(await failure(builder.build({ code: importing }))).toMatchObject({ status: 503 });
    await until(() => readdirSync(join(directory, "filling")).length === 0, "the end of what was begun");
    const { builder: next } = await openBuilder({ npm, directory });
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
    const { builder, directory } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: importing }));
    expect(error).toMatchObject({ status: 422, code: "package_refused" });
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).not.toContain(directory);
    expect(readdirSync(join(directory, "filling"))).toEqual([]);
  });
});

describe("an owner with more builds than fit", () => {
  it("has a bounded number of queued builds, and other owners' builds go on", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const read = { outcome: "read", definition: { name: "x", type: "source", props: [], hooks: [], hasAdditionalProps: false } } as const;
    const inspect = async ({ owner }: { readonly owner?: string }) => {
      if (owner === "u_greedy") await promise;
      return read;
    };
    const { builder } = await openBuilder({ limits: { waitingOfOwner: 3 }, inspector: { inspect } });
    const build = (owner: string, name: string) => builder.build({ code: `export default { name: "${name}", run() {} };`, owner });
    const begun = ["1", "2", "3"].map((name) => build("u_greedy", name));
    const error = await failure(build("u_greedy", "4"));
    expect(error).toMatchObject({ status: 503, code: "builder_busy", message: "3 of your builds are waiting already: try again" });
    expect((await build("u_other", "5")).definition.name).toBe("x");
    resolve();
    await Promise.all(begun);
    await build("u_greedy", "6");
  });
});

describe("the disk", () => {
  it("is not filled by builds: the oldest bundles are deleted, and built again when needed", async () => {
    const { npm } = await startRegistry([{ name: "one", files: { "index.js": "module.exports = 1" } }]);
    const { builder, directory } = await openBuilder({ npm, limits: { keptBytes: 100_000, cacheBytes: 1 } });
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

describe("components", () => {
  it("learn nothing by a computed path, however many parents it names", async () => {
    const { builder } = await openBuilder();
    const up = "../".repeat(80);
    const errors = await Promise.all(
      ["etc", "no-such-folder"].map((folder) =>
        failure(builder.build({ code: `export default { run: (x) => import(\`./${up}${folder}/\${x}\`) }` })),
      ),
    );
    const [first, second] = errors.map(({ message, details }) => JSON.stringify([message, details]));
    expect(first).toBe(second);
    expect(errors[0]).toMatchObject({ code: "import_refused" });
  });

  it("cannot make the bundler multiply a string until memory is full, and the next one is built", async () => {
    const { builder } = await openBuilder();
    const members = Array.from({ length: 27 }, (_, index) => `a${index + 1} = \`\${a${index}}\${a${index}}\``);
    const code = `enum E { a0 = "0123456789abcdef", ${members.join(", ")} }\nexport default { name: E.a27, run() {} };`;
    expect(await failure(builder.build({ code }))).toMatchObject({ status: 422, code: "code_too_complex" });
    expect((await builder.build({ code: `export default { name: "next", run() {} };` })).definition.name).toBe("next");
  });
});
