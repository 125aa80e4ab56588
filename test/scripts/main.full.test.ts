import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { copyFile, cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { roleNames } from "../../platform/process/settings/configuration.ts";
import { waitUntil } from "../../domain/retry.ts";
import { hasExited, isAlive } from "../../platform/process/processes.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "..", "..");

/** The real main with roles that only say that they started and stopped. Each test begins with the process that the one before started. */
describe("main", () => {
  let directory: TemporaryDirectory;
  let output = "";
  let main: ChildProcess | undefined;
  beforeAll(async () => {
    directory = await temporaryDirectory("main");
    for (const folder of ["platform", "crds", "domain", "node_modules", ...roleNames])
      await symlink(join(root, folder), join(directory.path, folder));
    await cp(join(root, "wiring"), join(directory.path, "wiring"), { recursive: true });
    for (const file of ["main.ts", "package.json"]) await copyFile(join(root, file), join(directory.path, file));
    for (const role of roleNames) await writeFile(join(directory.path, "wiring", "roles", `${role}.ts`), roleOf(role));
    main = await start();
  });
  afterAll(async () => {
    if (main !== undefined && !hasExited(main)) {
      main.kill("SIGTERM");
      await once(main, "exit");
    }
    await directory.remove();
  });

  const start = async (): Promise<ChildProcess> => {
    output = "";
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], HEADWATER_NATS_SERVER: await natsBinary() };
    const child = spawn(process.execPath, ["main.ts"], { cwd: directory.path, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const up = await waitUntil(() => output.includes("address of the api") || child.exitCode !== null, 120_000);
    if (up && child.exitCode === null) return child;
    child.kill("SIGTERM");
    throw new Error(`main did not start: ${output}`);
  };
  /** Of the last start of the role. */
  const pidOf = (role: string): number => Number([...output.matchAll(new RegExp(`started ${role} (\\d+)`, "g"))].at(-1)?.[1]);
  const natsPid = async (): Promise<number> =>
    Number(await readFile(join(directory.path, ".headwater/nats/nats-server.pid"), "utf8").catch(() => "0"));

  it("starts a killed watchdog, server and role again, and leaves none behind when it is killed, not even a role that hangs", async () => {
    const [watchdog = 0] = watchdogsOf(main?.pid ?? 0);
    process.kill(watchdog, "SIGKILL");
    expect(await waitUntil(() => watchdogsOf(main?.pid ?? 0).some((pid) => pid !== watchdog), 120_000)).toBe(true);
    const [runner, nats] = [pidOf("runner"), await natsPid()];
    process.kill(nats, "SIGKILL");
    expect(await waitUntil(async () => (await natsPid()) !== nats && isAlive(await natsPid()), 120_000)).toBe(true);
    // A role that starts later shows that the main process has reported the server to the watchdog.
    process.kill(runner, "SIGKILL");
    expect(await waitUntil(() => pidOf("runner") !== runner, 120_000)).toBe(true);
    const left = [pidOf("runner"), pidOf("builder"), await natsPid()];
    process.kill(pidOf("runner"), "SIGSTOP");
    main?.kill("SIGKILL");
    expect(await waitUntil(() => !left.some(isAlive), 120_000)).toBe(true);
    main = await start();
  });

  it("stops its roles in order and its servers after them", async () => {
    const servers = await natsPid();
    expect(new Set(["api", "runner", "builder"].map(pidOf)).size).toBe(3);
    main?.kill("SIGTERM");
    expect(main && (await once(main, "exit"))).toEqual([0, null]);
    expect([...output.matchAll(/stopped (\w+)/g)].map(([, role]) => role)).toEqual([
      "ingress",
      "api",
      "operator",
      "runner",
      "delivery",
      "builder",
    ]);
    expect([servers, pidOf("runner")].map(isAlive)).toEqual([false, false]);
  });
});

function watchdogsOf(parent: number): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ").map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("headwater-watchdog"));
}

function roleOf(role: string): string {
  const lines = role === "api" ? `["address of the api"]` : "[]";
  return `export const start = async () => {
    console.log("started ${role} " + process.pid);
    const alive = setInterval(() => undefined, 1000);
    return { lines: ${lines}, stop: async () => { clearInterval(alive); console.log("stopped ${role}"); } };
  };`;
}
