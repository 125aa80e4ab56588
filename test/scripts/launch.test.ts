import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

/** A package of its own whose node_modules are as the lockfile says: nothing is to be installed. */
describe("scripts/launch.mjs", () => {
  let directory: TemporaryDirectory;
  beforeAll(async () => {
    directory = await temporaryDirectory("launch");
    await Promise.all(["scripts", "node_modules"].map((folder) => mkdir(join(directory.path, folder))));
    await copyFile(join(import.meta.dirname, "../../scripts/launch.mjs"), join(directory.path, "scripts/launch.mjs"));
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
    expect(JSON.parse(await textOf(child.stdout))).toEqual(["--no-node-snapshot", "--max-semi-space-size=2"]);
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

async function textOf(stream: Readable): Promise<string> {
  return (await stream.toArray()).join("");
}
