import { describe, expect, it } from "vitest";
import { createStackMapper } from "../../builder/bundle/source-map.ts";
import { withPlainRequire } from "../../builder/created-require.ts";
import { withFilesBeside } from "../../builder/read-beside.ts";
import { startRegistry, type FakePackage } from "../integration/builder-registry.ts";
import { failure, openBuilder } from "../integration/builder-support.ts";

/** Components and packages that attack the builder: they keep it from others, or have it tell what lies on its disk. */
const megabyte = (piece: string): string => piece.repeat(2 ** 20 / piece.length);

/** Quadratic, a megabyte of these took from fifteen minutes to half a day of a core; now none takes a second. */
const isQuick = (work: (text: string) => unknown, piece: string, before: string): boolean => {
  const start = process.cpuUsage();
  work(before + megabyte(piece));
  const { user, system } = process.cpuUsage(start);
  return user + system < 20_000_000;
};

describe("texts that are looked through by patterns", () => {
  const making = "createRequire(import.meta.url);";
  it.each([
    ["one word", "a", making],
    ["a word again and again", "createRequire", ""],
    ["words with signs", "a$", making],
    ["assignments", "a=", making],
    ["comments that do not end", "a=/*", making],
    ["spaces", " ", `${making}a`],
  ])("take no longer for their shape: requires of %s", { timeout: 60_000 }, (_, piece, before) => {
    expect(isQuick(withPlainRequire, piece, before)).toBe(true);
  });

  it.each([
    ["words with signs", "a$", "readFileSync("],
    ["paths", "path", "x.readFileSync("],
    ["calls", "x.readFileSync(path", ""],
    ["quotes", `x.readFileSync(__dirname+"`, ""],
    ["spaces", " ", "x.readFileSync("],
  ])("take no longer for their shape: files beside in %s", { timeout: 60_000 }, (_, piece, before) => {
    expect(isQuick(withFilesBeside, piece, before)).toBe(true);
  });

  it("of a stack are lines that a frame can have", () => {
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
  return await builder.build({ code: importing }).then(
    ({ definition }) => `built ${definition.name}`,
    (error: Error) => error.message,
  );
}

describe("packages", () => {
  const up = "../".repeat(20);
  it.each([
    ["whose files exist", `${up}etc/`],
    ["that does not exist", `${up}no-such-folder/`],
    ["in which nothing fits", `${up}etc/no-such-beginning`],
  ])("learn nothing by a computed path to a folder %s", async (_, path) => {
    const told = "one/index.js:1: a package imports a file outside the packages";
    expect(await verdict(`module.exports = 1; exports.f = (x) => require("${path}" + x)`)).toBe(told);
    expect(await verdict(`module.exports = 1; exports.f = (x) => import(\`${path}\${x}\`)`)).toBe(told);
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

  it("have no file read that is larger than a bundle", async () => {
    const files = { "large.json": JSON.stringify("x".repeat(70_000)) };
    const told = await verdict(`module.exports = require("./large.json")`, { files }, { limits: { bundleBytes: 65_536 } });
    expect(told).toBe("one/index.js:1: large.json is 70002 bytes, 65536 bytes are allowed");
  });
});

describe("components", () => {
  it("learn nothing by a computed path, however far it climbs", async () => {
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

  it("cannot have the bundler multiply a text until no memory is left, and the next is built", { timeout: 60_000 }, async () => {
    const { builder } = await openBuilder();
    const members = Array.from({ length: 27 }, (_, index) => `a${index + 1} = \`\${a${index}}\${a${index}}\``);
    const code = `enum E { a0 = "0123456789abcdef", ${members.join(", ")} }\nexport default { name: E.a27, run() {} };`;
    expect(await failure(builder.build({ code }))).toMatchObject({ status: 422, code: "code_too_complex" });
    expect((await builder.build({ code: `export default { name: "next", run() {} };` })).definition.name).toBe("next");
  });
});
