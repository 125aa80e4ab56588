import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

/** A package of its own whose node_modules are as the lockfile says: nothing is to be installed. */
describe("scripts/launch.mjs", () => {
  let directory: TemporaryDirectory;
  beforeAll(async () => {
    directory = await temporaryDirectory("launch");
    await Promise.all(["scripts", "node_modules"].map((folder) => mkdir(join(directory.path, folder))));
    await copyLauncher(directory.path);
    await writeFile(join(directory.path, "package-lock.json"), "{}");
    await writeFile(join(directory.path, "node_modules/.headwater-lockfile"), createHash("sha256").update("{}").digest("hex"));
  });
  afterAll(() => directory.remove());

  const launch = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcessByStdio<null, Readable, Readable> => {
    const program = [join(directory.path, "scripts/launch.mjs"), ...args];
    return spawn(process.execPath, program, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  };

  it("passes arguments and the exit code on, and runs TypeScript", async () => {
    await writeFile(join(directory.path, "ends.ts"), "const code: number = 3; console.log(process.argv[2]); process.exit(code);");
    // Without npm in sight, an attempt to install something would fail.
    const child = launch(["ends.ts", "an argument"], { npm_execpath: "/nowhere" });
    const [said, [code]] = await Promise.all([textOf(child.stdout), once(child, "close")]);
    expect({ said, code }).toEqual({ said: "an argument\n", code: 3 });
  });

  it("starts with the flags that Headwater needs", async () => {
    await writeFile(join(directory.path, "flags.ts"), "console.log(JSON.stringify(process.execArgv));");
    const child = launch(["flags.ts"]);
    expect(JSON.parse(await textOf(child.stdout))).toEqual(["--no-node-snapshot", "--max-semi-space-size=8"]);
  });

  it("passes a signal on once", async () => {
    const script = `let times = 0;
      process.on("SIGTERM", () => { times++; setTimeout(() => process.exit(10 + times), 100); });
      setInterval(() => undefined, 1000);
      console.log("up");`;
    await writeFile(join(directory.path, "waits.ts"), script);
    const child = launch(["waits.ts"]);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([11, null]);
  });

  it("ends by the signal that ended the script", async () => {
    await writeFile(join(directory.path, "dies.ts"), "process.kill(process.pid, 'SIGKILL');");
    expect(await once(launch(["dies.ts"]), "close")).toEqual([null, "SIGKILL"]);
  });
});

/** A package whose lockfile changed: npm is one of the test's, which is given the directory that it has to fill. */
describe("scripts/launch.mjs with node_modules of an older lockfile", () => {
  let directory: TemporaryDirectory;
  const at = (path: string): string => join(directory.path, path);
  const npm = (does: string): Promise<void> =>
    writeFile(at("npm-cli.js"), `const fs = require("node:fs"); if (process.argv[2] !== "ci") process.exit(9); ${does}`);
  const launch = async (): Promise<{ readonly code: unknown; readonly said: string }> => {
    const env = { ...process.env, npm_execpath: at("npm-cli.js") };
    const child = spawn(process.execPath, [at("scripts/launch.mjs")], { stdio: ["ignore", "ignore", "pipe"], env });
    const [said, [code]] = await Promise.all([textOf(child.stderr), once(child, "close")]);
    return { code, said };
  };

  beforeEach(async () => {
    directory = await temporaryDirectory("launch-update");
    await Promise.all(["scripts", "node_modules/old"].map((folder) => mkdir(at(folder), { recursive: true })));
    await copyLauncher(directory.path);
    await writeFile(at("package.json"), "{}");
    await writeFile(at("package-lock.json"), '{"changed":true}');
    await writeFile(at("node_modules/old/index.js"), "module.exports = 1;");
  });
  afterEach(() => directory.remove());

  it("replaces them at once when the new ones are whole, so that nothing that runs sees them empty", async () => {
    // Running processes find their packages while npm installs.
    await npm(`fs.mkdirSync("node_modules/new", { recursive: true });
      fs.writeFileSync("node_modules/new/index.js", "");
      fs.writeFileSync(${JSON.stringify(at("seen"))}, [fs.existsSync(${JSON.stringify(at("node_modules/old/index.js"))}), fs.readFileSync("package-lock.json", "utf8")].join());`);
    expect(await launch()).toMatchObject({ code: 0, said: expect.stringContaining("start it again to have it use them") as string });
    expect(await readFile(at("seen"), "utf8")).toBe('true,{"changed":true}');
    expect((await readdir(at("node_modules"))).toSorted()).toEqual([".headwater-lockfile", "new"]);
    expect(await readdir(at(".headwater"))).toEqual([]);
    // The next start finds them as the lockfile says.
    await npm("process.exit(1);");
    expect(await launch()).toEqual({ code: 0, said: "" });
  });

  it("leaves them as they are when npm fails, and clears away what one that was killed left", async () => {
    await npm(`fs.mkdirSync("node_modules/half", { recursive: true }); process.exit(1);`);
    await mkdir(at(".headwater/modules.99999999/node_modules"), { recursive: true });
    expect(await launch()).toMatchObject({ code: 1, said: expect.stringContaining("npm ci failed") as string });
    expect(await readdir(at("node_modules"))).toEqual(["old"]);
    expect(await readdir(at(".headwater"))).toEqual([]);
  });

  it("makes the first ones where there are none", async () => {
    await rm(at("node_modules"), { recursive: true });
    await npm(`fs.mkdirSync("node_modules/new", { recursive: true });`);
    expect((await launch()).code).toBe(0);
    expect((await readdir(at("node_modules"))).toSorted()).toEqual([".headwater-lockfile", "new"]);
  });
});

/** A package that needs another Node than the one of the tests. npm is one of the test's, which writes a program that names its version. */
describe.runIf(process.platform === "linux")("scripts/launch.mjs under a Node that it must not use", () => {
  let directory: TemporaryDirectory;
  const at = (path: string): string => join(directory.path, path);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

  beforeEach(async () => {
    directory = await temporaryDirectory("launch-node");
    await Promise.all(["scripts", "node_modules"].map((folder) => mkdir(at(folder))));
    await copyLauncher(directory.path);
    await writeFile(at("package-lock.json"), "{}");
    await writeFile(at("node_modules/.headwater-lockfile"), createHash("sha256").update("{}").digest("hex"));
    const npm = `const fs = require("node:fs"), path = require("node:path");
      const [, , step, , prefix, ...rest] = process.argv;
      const [name, version] = rest.at(-1).split("@");
      const folder = path.join(prefix, "node_modules", name);
      fs.mkdirSync(path.join(folder, "bin"), { recursive: true });
      fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ version }));
      fs.writeFileSync(path.join(folder, "bin/node"), "#!/bin/sh\\n" + (process.env.BROKEN_NODE ?? "echo Node " + version), { mode: 0o755 });
      console.error(step + " " + rest.at(-1));`;
    await writeFile(at("npm-cli.js"), npm);
  });
  afterEach(() => directory.remove());

  async function launch(needed: string, broken?: string): Promise<{ readonly ran: string; readonly said: string }> {
    await writeFile(at(".node-version"), `${needed}\n`);
    const env = { ...process.env, npm_execpath: at("npm-cli.js"), ...(broken !== undefined && { BROKEN_NODE: broken }) };
    const child = spawn(process.execPath, [at("scripts/launch.mjs"), "script.ts"], { stdio: ["ignore", "pipe", "pipe"], env });
    const [ran, said] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    return { ran: ran.trim(), said };
  }

  it("installs the version of .node-version once if its own is older, and replaces one that is older than that", async () => {
    const [needed, later] = [`${major}.${minor + 1}.0`, `${major}.${minor + 1}.1`];
    const first = await launch(needed);
    expect(first.ran).toBe(`Node ${needed}`);
    expect(first.said).toMatch(new RegExp(`^install node-linux-\\w+@${needed}$`, "m"));
    expect(await launch(needed)).toEqual({ ran: `Node ${needed}`, said: "" });
    expect((await launch(later)).ran).toBe(`Node ${later}`);
    expect(await readdir(at(".headwater"))).toEqual(["node"]);
  });

  it("names the library that an installed Node does not find, and keeps nothing of it", async () => {
    const { ran, said } = await launch(`${major}.${minor + 1}.0`, "echo 'libatomic.so.1: cannot open shared object file' >&2; exit 127");
    expect(ran).toBe("");
    expect(said).toContain("does not start on this system: libatomic.so.1: cannot open shared object file: install it (`libatomic1`");
    expect(await readdir(at(".headwater"))).toEqual([]);
  });

  it("installs the version of .node-version if its own has a later major version", async () => {
    expect((await launch(`${major - 1}.0.0`)).ran).toBe(`Node ${major - 1}.0.0`);
  });
});

async function copyLauncher(target: string): Promise<void> {
  const root = join(import.meta.dirname, "../..");
  await Promise.all(["scripts/launch.mjs", ".node-version"].map((path) => copyFile(join(root, path), join(target, path))));
}

async function textOf(stream: Readable): Promise<string> {
  return (await stream.toArray()).join("");
}
