import { mkdir, mkdtemp, readdir, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startRegistry } from "./registry.ts";
import { evaluate, failure, openBuilder, openWholeBuilder } from "./support.ts";

const component = (imports: string, name = '"x"'): string =>
  `// a component\n${imports}\nexport default { name: ${name}, async run() {} };\n`;
const one = { name: "one", files: { "index.js": 'module.exports = "one"' } };

describe("packages", () => {
  test("are installed from the configured registry and bundled", async () => {
    const { npm } = await startRegistry([
      { name: "@scope/a", dependencies: { one: "^1" }, files: { "index.js": 'exports.a = require("one")' } },
      one,
    ]);
    const { builder, stored } = await openWholeBuilder({ npm });
    const build = await builder.build({ code: component('import { a } from "@scope/a";', "a") });
    expect(build.definition.name).toBe("one");
    expect(stored.get(build.bundle)).toContain('"one"');
  });

  test("are installed once for equal imports, also when requested concurrently", async () => {
    const { npm, requests } = await startRegistry([one]);
    const { builder } = await openBuilder({ npm });
    await Promise.all(["1", "2", "3"].map((name) => builder.build({ code: component('import one from "one";', `"${name}" + one`) })));
    await builder.build({ code: component('import { default as o } from "one";', '"4" + o') });
    expect(requests).toEqual(["one", "one/-/one-1.0.0.tgz"]);
  });

  test("are reused by another builder on the same folder", async () => {
    const registry = await startRegistry([one]);
    const { builder, directory } = await openBuilder({ npm: registry.npm });
    await builder.build({ code: component('import one from "one";', "one") });
    registry.fail(true);
    const { builder: second } = await openBuilder({ npm: registry.npm, directory });
    const { definition } = await second.build({ code: component('import one from "one";', "one + 2") });
    expect(definition.name).toBe("one2");
  });

  test("keep the versions of the lockfile when newer ones appear", async () => {
    const versions = [{ ...one, version: "1.0.0", files: { "index.js": 'module.exports = "old"' } }];
    const { npm } = await startRegistry(versions);
    const first = await (await openBuilder({ npm })).builder.build({ code: component('import one from "one";', "one") });
    versions.push({ ...one, version: "1.1.0", files: { "index.js": 'module.exports = "new"' } });
    const { builder } = await openBuilder({ npm });
    const pinned = await builder.build({ code: component('import one from "one";', "one"), lockfile: first.lockfile });
    expect(pinned.definition.name).toBe("old");
    expect(pinned.lockfile).toBe(first.lockfile);
    expect((await builder.build({ code: component('import one from "one";', "one") })).definition.name).toBe("new");
  });

  test("use the matching part of a lockfile from before an import was added", async () => {
    const versions = [
      { ...one, version: "1.0.0" },
      { name: "two", files: { "index.js": "module.exports = 2" } },
    ];
    const { npm } = await startRegistry(versions);
    const first = await (await openBuilder({ npm })).builder.build({ code: component('import one from "one";', "one") });
    versions.push({ ...one, version: "1.1.0" });
    const { builder } = await openBuilder({ npm });
    const grown = await builder.build({
      code: component('import one from "one"; import two from "two";', "one + two"),
      lockfile: first.lockfile,
    });
    expect(grown.lockfile).toContain('"node_modules/two"');
    expect(JSON.parse(grown.lockfile ?? "").packages["node_modules/one"].version).toBe("1.0.0");
  });

  test("can be in one component in two versions", async () => {
    const { npm } = await startRegistry([
      { ...one, version: "1.0.0", files: { "index.js": "module.exports = 1" } },
      { ...one, version: "2.0.0", files: { "index.js": "module.exports = 2", "sub.js": "module.exports = 'sub'" } },
    ]);
    const { builder } = await openBuilder({ npm });
    const build = await builder.build({
      code: component('import a from "one@1"; import b from "one@^2"; import c from "one@^2/sub.js";', "`${a} ${b} ${c}`"),
    });
    expect(build.definition.name).toBe("1 2 sub");
  });

  test("are not used from an install that died", async () => {
    const directory = await mkdtemp(join(tmpdir(), "headwater-builder-"));
    const left = join(directory, "filling", "set-dead");
    await mkdir(join(left, "node_modules"), { recursive: true });
    await writeFile(join(left, "package.json"), "{");
    await utimes(left, 0, 0);
    const { npm } = await startRegistry([one]);
    const { builder } = await openBuilder({ npm, directory });
    await builder.build({ code: component('import one from "one";', "one") });
    expect(await readdir(join(directory, "filling"))).toEqual([]);
    expect(await readdir(join(directory, "sets"))).toHaveLength(1);
  });

  test("are evicted when the store is full, least recently used sets first", async () => {
    const { npm } = await startRegistry([one, { name: "two", files: { "index.js": "module.exports = 2" } }]);
    const { builder, directory } = await openBuilder({ npm, limits: { storeBytes: 1 } });
    await builder.build({ code: component('import one from "one";', "one") });
    const [first = ""] = await readdir(join(directory, "sets"));
    await utimes(join(directory, "sets", first, ".complete"), 0, 0);
    await builder.build({ code: component('import two from "two";', "two") });
    expect(await readdir(join(directory, "sets"))).not.toContain(first);
    await builder.build({ code: component('import one from "one";', "one + 1") });
  });

  test("may lack optional dependencies and peers, which throw only when reached", async () => {
    const { npm } = await startRegistry([
      {
        name: "picky",
        optionalDependencies: { "not-there": "^1" },
        peerDependencies: { "peer-not-there": "^1" },
        peerDependenciesMeta: { "peer-not-there": { optional: true } },
        files: {
          "index.js":
            'let found = []; for (const f of [() => require("not-there"), () => require("peer-not-there"), () => require("./addon.node")]) try { f() } catch (e) { found.push(e.code) } module.exports = found.join()',
        },
      },
    ]);
    const { builder } = await openBuilder({ npm });
    const build = await builder.build({ code: component('import found from "picky";', "found") });
    expect(build.definition.name).toBe("MODULE_NOT_FOUND,MODULE_NOT_FOUND,MODULE_NOT_FOUND");
  });

  test("may use built-ins, __dirname, import.meta and JSON files", async () => {
    const { npm } = await startRegistry([
      {
        name: "old",
        files: {
          "index.js":
            'const path = require("path"); const data = require(__dirname + "/data.json"); module.exports = path.join(__dirname, data.a, typeof global)',
          "data.json": '{"a":"json"}',
        },
      },
    ]);
    const { builder, stored } = await openBuilder({ npm });
    const build = await builder.build({
      code: component('import old from "old"; import data from "old/data.json" with { type: "json" };', "old + data.a + import.meta.url"),
    });
    expect(build.needsNode).toBe(true);
    expect(await evaluate(stored.get(build.bundle) ?? "")).toMatchObject({
      name: "/tmp/json/objectjsonfile:///tmp/component.mjs",
    });
  });
});

describe("a package is refused or restricted:", () => {
  test("one that does not exist, with the line of its import", async () => {
    const { npm } = await startRegistry([]);
    const { builder } = await openWholeBuilder({ npm });
    const error = await failure(builder.build({ code: component('import none from "none";') }));
    expect(error).toMatchObject({
      status: 422,
      code: "package_not_found",
      message: "component.js:2:18: package none is not in the npm registry: check its name",
    });
    expect(error.details).toMatchObject({ line: 2, column: 18, package: "none" });
  });

  test.each([
    ["git+https://user:token@127.0.0.1/x.git", "inner@git+https://127.0.0.1/x.git"],
    ["file:../../../../etc", "inner@file:../../../../etc"],
  ])("a dependency on %s, without fetching it, with the line of the import", async (address, named) => {
    const { npm } = await startRegistry([{ ...one, dependencies: { inner: address } }]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({ status: 422, code: "package_refused" });
    expect(error.message).toContain(
      `depends on ${named}, which is not in the npm registry, and only packages of the registry can be installed: import another version of `,
    );
    if (named.startsWith("inner"))
      expect(error.message).toMatch(/^component\.js:2:17: one depends on .* version of one, or another package$/);
  });

  test("one without an integrity hash", async () => {
    const { npm, requests } = await startRegistry([{ ...one, withoutIntegrity: true }]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({
      status: 422,
      code: "package_refused",
      message: "package one has no integrity hash in the registry",
    });
    expect(requests).not.toContain("one/-/one-1.0.0.tgz");
  });

  test("one whose bytes do not match its hash", async () => {
    const { npm } = await startRegistry([{ ...one, tampered: true }]);
    const { builder } = await openBuilder({ npm });
    expect(await failure(builder.build({ code: component('import one from "one";') }))).toMatchObject({
      status: 422,
      code: "integrity_mismatch",
    });
  });

  test("too many packages, before any is downloaded", async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ name: `p${index}`, files: { "index.js": "" } }));
    const { npm, requests } = await startRegistry([
      { ...one, dependencies: Object.fromEntries(many.map(({ name }) => [name, "*"])) },
      ...many,
    ]);
    const { builder } = await openWholeBuilder({ npm, limits: { packages: 20 } });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({
      status: 413,
      code: "too_many_packages",
      message: "the imports need 21 packages, 20 are allowed: import less, or a smaller package",
    });
    expect(requests.filter((path) => path.endsWith(".tgz"))).toEqual([]);
  });

  test("more bytes than allowed", async () => {
    const { npm } = await startRegistry([{ ...one, files: { "index.js": "", "big.txt": "x".repeat(100_000) } }]);
    const { builder, directory } = await openWholeBuilder({ npm, limits: { unpackedBytes: 50_000 } });
    expect(await failure(builder.build({ code: component('import one from "one";') }))).toMatchObject({
      status: 413,
      code: "packages_too_large",
      message: expect.stringMatching(/; the largest are one \(\d+ bytes\)$/),
    });
    expect(await readdir(join(directory, "sets"))).toEqual([]);
  });

  test("one with install scripts, which is installed without running them", async () => {
    const marker = join(tmpdir(), `headwater-script-${process.pid}`);
    const { npm } = await startRegistry([
      {
        ...one,
        scripts: { preinstall: `touch ${marker}`, install: `touch ${marker}`, postinstall: `touch ${marker}` },
      },
    ]);
    const { builder } = await openBuilder({ npm });
    await builder.build({ code: component('import one from "one";') });
    expect(await readdir(tmpdir())).not.toContain(marker.split("/").pop());
  });
});

describe("a registry that does not respond", () => {
  test("causes registry_unreachable, not an error of the component", async () => {
    const { builder } = await openBuilder({ npm: { registry: "http://127.0.0.1:1/" } });
    const error = await failure(builder.build({ code: component('import one from "one";') }));
    expect(error).toMatchObject({ status: 503, code: "registry_unreachable" });
    expect(error.message).toMatch(/^the npm registry cannot be reached \(ECONNREFUSED/);
  });

  test("is asked again by the next build", async () => {
    const registry = await startRegistry([one]);
    registry.fail(true);
    const { builder } = await openBuilder({ npm: registry.npm });
    const code = component('import one from "one";', "one");
    expect(await failure(builder.build({ code }))).toMatchObject({ status: 503, code: "registry_unreachable" });
    registry.fail(false);
    expect((await builder.build({ code })).definition.name).toBe("one");
  });
});

describe("hostile packages", () => {
  test("cannot inline the builder's files, nor learn which exist", async () => {
    const targets = [
      "../../../../../../../../../../etc/hostname.json",
      "/etc/passwd",
      "../../../package.json",
      "../../../../builds/x.json",
      "../../../../../../../../no/such/file",
    ];
    const files = targets.map((target, index) => [`${index}.js`, `module.exports = require(${JSON.stringify(target)})`]);
    const { npm } = await startRegistry([{ ...one, files: Object.fromEntries(files) as Record<string, string> }]);
    const { builder } = await openBuilder({ npm });
    for (const [index, target] of targets.entries()) {
      const error = await failure(builder.build({ code: component(`import one from "one/${index}.js";`, "JSON.stringify(one)") }));
      expect(error).toMatchObject({ status: 422, code: "bundle_error" });
      expect(error.message).toContain(`a package imports "${target}", which is outside the packages`);
    }
  });

  test("cannot reach packages above their own set", async () => {
    // vitest is in node_modules of this repository, and so above every folder in it.
    const directory = await mkdtemp(join(import.meta.dirname, "../../../.headwater/builder-test-"));
    const { npm } = await startRegistry([
      {
        ...one,
        files: {
          "index.js": 'try { require("vitest"); module.exports = "found" } catch (e) { module.exports = e.code }',
        },
      },
    ]);
    const { builder } = await openBuilder({ npm, directory });
    expect((await builder.build({ code: component('import one from "one";', "one") })).definition.name).toBe("MODULE_NOT_FOUND");
  });

  test("cannot contain symbolic links", async () => {
    const { npm } = await startRegistry([
      {
        ...one,
        files: { "index.js": 'try { module.exports = require("./link.json") } catch (e) { module.exports = e.code }' },
        links: { "link.json": "/etc/hostname" },
      },
    ]);
    const { builder } = await openBuilder({ npm });
    expect((await builder.build({ code: component('import one from "one";', "one") })).definition.name).toBe("MODULE_NOT_FOUND");
  });

  test("cannot configure the bundler by a tsconfig or a browser field", async () => {
    const { npm } = await startRegistry([
      {
        ...one,
        files: {
          "tsconfig.json": '{"compilerOptions":{"baseUrl":"/etc","paths":{"*":["/etc/*"]}}}',
          "index.ts": "export {}",
          "index.js": 'module.exports = typeof require("./other")',
          "other.js": "module.exports = 1",
        },
      },
    ]);
    const { builder } = await openBuilder({ npm });
    expect((await builder.build({ code: component('import one from "one";', "one") })).definition.name).toBe("number");
  });
});

describe("a lockfile from outside", () => {
  const lockfile = (packages: unknown): string => JSON.stringify({ lockfileVersion: 3, packages });
  test.each([
    ["no JSON", "{", "npm lockfile version 3 is expected"],
    ["another version", JSON.stringify({ lockfileVersion: 1, packages: {} }), "npm lockfile version 3 is expected"],
    [
      "a path that climbs",
      lockfile({ "node_modules/../../etc": { version: "1.0.0", integrity: "sha512-x" } }),
      "is no path of an installed package",
    ],
    ["a link", lockfile({ "node_modules/one": { version: "1.0.0", link: true, integrity: "sha512-x" } }), "node_modules/one"],
    ["no integrity", lockfile({ "node_modules/one": { version: "1.0.0" } }), "has no integrity hash"],
    ["an address for a version", lockfile({ "node_modules/one": { version: "file:../x", integrity: "sha512-x" } }), "is no version"],
  ])("with %s is refused", async (_, text, message) => {
    const { npm } = await startRegistry([one]);
    const { builder } = await openBuilder({ npm });
    const error = await failure(builder.build({ code: component('import one from "one";'), lockfile: text }));
    expect(error).toMatchObject({ status: 422, code: "invalid_lockfile" });
    expect(error.message).toContain(message);
  });

  test("cannot name a URL to fetch from", async () => {
    const { npm } = await startRegistry([one]);
    const first = await (await openBuilder({ npm })).builder.build({ code: component('import one from "one";', "one") });
    const moved = (first.lockfile ?? "").replace('"version": "1.0.0",', '"version": "1.0.0", "resolved": "http://127.0.0.1:1/one.tgz",');
    expect(moved).toContain("127.0.0.1:1");
    const { builder } = await openBuilder({ npm });
    const build = await builder.build({ code: component('import one from "one";', "one"), lockfile: moved });
    expect(build.definition.name).toBe("one");
    expect(build.lockfile).not.toContain("resolved");
  });

  test("with a hash that differs from the registry's is reported", async () => {
    const { npm } = await startRegistry([one]);
    const first = await (await openBuilder({ npm })).builder.build({ code: component('import one from "one";', "one") });
    const wrong = (first.lockfile ?? "").replace(/sha512-.{10}/, "sha512-AAAAAAAAAA");
    const { builder } = await openBuilder({ npm });
    expect(await failure(builder.build({ code: component('import one from "one";', "one"), lockfile: wrong }))).toMatchObject({
      status: 422,
      code: "integrity_mismatch",
    });
  });
});
