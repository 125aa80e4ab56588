import { describe, expect, it } from "vitest";
import { createStackMapper } from "../../../builder/bundle/source-map.ts";
import { withPlainRequire } from "../../../builder/scan/created-require.ts";
import { withFilesBeside } from "../../../builder/scan/read-beside.ts";
import { failure, openBuilder } from "../../integration/builder/support.ts";
import { verdict } from "./hostile-packages.ts";

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

describe("a package", () => {
  it("learns nothing by a computed path to a folder", async () => {
    const path = `${"../".repeat(20)}etc/`;
    const error = "one/index.js:1: a package imports a file outside the packages";
    expect(await verdict(`module.exports = 1; exports.f = (x) => require("${path}" + x)`)).toBe(error);
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
