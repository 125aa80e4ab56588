import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockDataDirectory } from "../../platform/process/data-lock.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const scripts = join(import.meta.dirname, "../../scripts");
const { problemsOfStart } = (await import(join(scripts, "preflight.mjs"))) as {
  problemsOfStart: (env: NodeJS.ProcessEnv, install: { directory: string; bytes: number }) => Promise<readonly string[]>;
};

let directory: TemporaryDirectory;
let servers: readonly Server[];
let taken: readonly [string, string];

beforeAll(async () => {
  directory = await temporaryDirectory("preflight");
  servers = [createServer(), createServer()];
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const [api = "", ingress = ""] = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`); // Listening on TCP.
  taken = [api, ingress];
});
afterAll(async () => {
  for (const server of servers) server.close();
  await directory.remove();
});

const settings = (name: string, others: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  HEADWATER_DATA: join(directory.path, name),
  HEADWATER_LISTEN: "127.0.0.1:0",
  HEADWATER_INGRESS_LISTEN: "127.0.0.1:0",
  ...others,
});
const both = () => ({ HEADWATER_LISTEN: taken[0], HEADWATER_INGRESS_LISTEN: taken[1] });
const problems = (env: NodeJS.ProcessEnv, bytes = 0): Promise<readonly string[]> =>
  problemsOfStart(env, { directory: directory.path, bytes });

describe("the checks before an installation", () => {
  it("find nothing for a new data directory and free ports, and create the directory", async () => {
    expect(await problems(settings("fine"))).toEqual([]);
    expect(await readdir(join(directory.path, "fine"))).toEqual([]);
  });

  it("report both ports that are in use", async () => {
    expect(await problems(settings("ports", both()))).toEqual([
      `cannot listen on ${taken[0]}: another process listens there; stop it, or set HEADWATER_LISTEN to another host:port`,
      `cannot listen on ${taken[1]}: another process listens there; stop it, or set HEADWATER_INGRESS_LISTEN to another host:port`,
    ]);
  });

  it("ignore the ports of roles that do not run, and invalid addresses, which main.ts reports", async () => {
    expect(await problems(settings("roles", { ...both(), HEADWATER_ROLES: "runner, ingress" }))).toHaveLength(1);
    expect(await problems(settings("invalid", { HEADWATER_LISTEN: "x", HEADWATER_INGRESS_LISTEN: "127.0.0.1:99999" }))).toEqual([]);
  });

  it("report a data directory that cannot be written", async () => {
    const found = await problems(settings("", { HEADWATER_DATA: "/proc/headwater" }));
    expect(found).toEqual([expect.stringMatching(/^the data directory \/proc\/headwater cannot be written .*set HEADWATER_DATA/)]);
  });

  it("report the process that uses the data directory", async () => {
    const env = settings("held", both());
    const lock = await lockDataDirectory(join(directory.path, "held"), "http://127.0.0.1:3000");
    const line = new RegExp(`is in use by process ${process.pid}, which serves http://127.0.0.1:3000: stop it`);
    expect(await problems(env)).toEqual([expect.stringMatching(line)]);
    await lock.release();
  });

  it("leave the ports to main.ts after a crash, whose role processes may still hold them", async () => {
    const env = settings("crashed", both());
    await mkdir(join(directory.path, "crashed"));
    const dead = spawn(process.execPath, ["--version"]);
    await once(dead, "exit");
    await writeFile(
      join(directory.path, "crashed", "lock"),
      JSON.stringify({ pid: dead.pid, startedAt: "1", address: "http://127.0.0.1:1" }),
    );
    expect(await problems(env)).toEqual([]);
  });

  it("report a disk without enough space", async () => {
    const [line, ...others] = await problems(settings("disk"), Number.MAX_SAFE_INTEGER);
    expect(line).toMatch(/^the disk of \S+ has \d+ MB free, and the start needs about \d+ MB there: free some space/);
    expect(others).toEqual([]);
  });
});

describe("npm start without node_modules", () => {
  const at = (path: string): string => join(directory.path, "package", path);

  /** Runs the launcher with an npm that records its call. */
  async function launch(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ readonly code: unknown; readonly output: string }> {
    const child = spawn(process.execPath, [at("scripts/launch.mjs"), ...args], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, npm_execpath: at("npm-cli.js"), ...env },
    });
    const [output, [code]] = await Promise.all([child.stderr.toArray(), once(child, "close")]);
    return { code, output: output.join("") };
  }

  beforeAll(async () => {
    await mkdir(at("scripts"), { recursive: true });
    await Promise.all(["launch.mjs", "preflight.mjs"].map((name) => copyFile(join(scripts, name), at(`scripts/${name}`))));
    await copyFile(join(scripts, "../.node-version"), at(".node-version"));
    await writeFile(at("package-lock.json"), "{}");
    await writeFile(at("package.json"), "{}");
    await writeFile(at("npm-cli.js"), `require("node:fs").writeFileSync(${JSON.stringify(at("npm-ran"))}, ""); process.exit(1);`);
  });

  it("reports ports that are in use before it installs anything", async () => {
    const { code, output } = await launch(["main.ts"], settings("data", both()));
    expect({ code, lines: output.trim().split("\n") }).toEqual({
      code: 1,
      lines: taken.map((address) => expect.stringContaining(`headwater: cannot listen on ${address}`) as string),
    });
    await expect(stat(at("npm-ran"))).rejects.toThrow("ENOENT");
  });

  it("installs for other scripts and for --help, whatever the ports", async () => {
    expect((await launch(["main.ts", "--help"], settings("data", both()))).output).toContain("npm ci failed");
    expect(await readFile(at("npm-ran"), "utf8")).toBe("");
  });
});
