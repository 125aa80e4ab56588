import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Confine } from "../../../builder/ports.ts";
import { confineBuilder } from "../../../wiring/roles/builder-jail.ts";
import { startRegistry } from "./registry.ts";
import { openWholeBuilder } from "./support.ts";

/** The builder's processes in their jails. Machines whose kernel has no Landlock skip it. */
const require = createRequire(import.meta.url);
const path = process.env["ESBUILD_BINARY_PATH"];
const warnings: string[] = [];
let directory: string;
let confine: Confine | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "headwater-builder-jail-"));
  await chmod(directory, 0o755); // Else users of their own cannot reach it.
  confine = await confineBuilder(
    { sandboxJail: "auto", logger: { warn: (_, message) => warnings.push(message ?? "") } },
    join(directory, "builder"),
  );
});
afterAll(async () => {
  if (path === undefined) delete process.env["ESBUILD_BINARY_PATH"];
  else process.env["ESBUILD_BINARY_PATH"] = path;
  await rm(directory, { recursive: true, force: true });
});

/** esbuild's library reads the path of its program when it is loaded. */
function loadEsbuild(): typeof import("esbuild") {
  const file = require.resolve("esbuild");
  const loaded = require.cache[file];
  Reflect.deleteProperty(require.cache, file);
  try {
    return require(file) as typeof import("esbuild");
  } finally {
    require.cache[file] = loaded;
  }
}

async function statusOfEsbuild(): Promise<string> {
  const lists = await Promise.all(
    (await readdir("/proc/self/task")).map((thread) => readFile(`/proc/self/task/${thread}/children`, "utf8")),
  );
  const children = lists.flatMap((list) => list.split(" ").filter(Boolean));
  const statuses = await Promise.all(children.map((pid) => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")));
  return statuses.find((status) => status.startsWith("Name:\tesbuild") && status.includes("Seccomp:\t2")) ?? "";
}

it("bundles with an esbuild that reads no other files", async ({ skip }) => {
  if (confine === undefined) return skip(warnings.join());
  const esbuild = loadEsbuild();
  const load = (file: string) =>
    esbuild.build({ entryPoints: [file], bundle: true, write: false, loader: { "": "text" }, logLevel: "silent" });
  const own = await load(join(import.meta.dirname, "../../../domain/json.ts"));
  expect(own.outputFiles[0]?.text).not.toBe("");
  const status = await statusOfEsbuild();
  expect(status).toContain("NoNewPrivs:\t1");
  if (process.getuid?.() === 0) expect(status).toMatch(/Uid:\t187\d{7}\t/);
  await expect(load("/etc/hosts")).rejects.toThrow("permission denied");
  await expect(load(`/proc/${process.pid}/environ`)).rejects.toThrow("permission denied");
  expect((await load("/proc/self/environ")).outputFiles[0]?.text).toContain('environ_default = ""');
  await esbuild.stop();
});

it("installs packages, which then belong to a user of their own where the builder is root", async ({ skip }) => {
  if (confine === undefined) return skip(warnings.join());
  const { user } = confine;
  const commands: unknown[] = [];
  const inner = confine;
  const counted: Confine = Object.assign((rules: Parameters<Confine>[0]) => (commands.push(rules.command), inner(rules)), { user });
  const { npm } = await startRegistry([
    { name: "one", files: { "index.js": 'module.exports = "one"', "lib/two.js": "1" } },
    { name: "three", files: { "index.js": "" } },
  ]);
  const { builder } = await openWholeBuilder({ npm, confine: counted, directory: join(directory, "builder") });
  const build = await builder.build({ code: 'import one from "one";\nexport default { name: one, run() {} };\n' });
  expect(build.definition.name).toBe("one");
  expect(commands.length).toBe(1);
  const [set = ""] = await readdir(join(directory, "builder/sets"));
  const { uid } = await stat(join(directory, "builder/sets", set, "node_modules/one/index.js"));
  expect(uid).toBe(user ?? process.getuid?.());
  const more = 'import one from "one";\nimport "one/lib/two.js";\nimport "three";\nexport default { name: one + 2, run() {} };\n';
  expect((await builder.build({ code: more, lockfile: build.lockfile })).definition.name).toBe("one2");
  expect(commands.length).toBe(2);
  expect(warnings).toEqual([]);
});
