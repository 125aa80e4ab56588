import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { x as extract } from "tar";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

it("npm pack makes a package that runs without dependencies", async () => {
  const directory = await temporaryDirectory("package");
  const { stdout } = await run("npm", ["pack", join(root, "cli"), "--json", "--pack-destination", directory.path], { cwd: root });
  const file = /"filename":\s*"([\w.-]+\.tgz)"/.exec(stdout)?.[1] ?? "";
  const installed = join(directory.path, "installed");
  await mkdir(installed);
  await extract({ file: join(directory.path, file), cwd: installed, strip: 1 });
  const hw = (...args: readonly string[]) => run(process.execPath, [join(installed, "dist", "hw.mjs"), ...args], { cwd: directory.path });
  expect((await hw("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await hw("--help")).stdout).toContain("init");
  await hw("init", "source", "packed");
  expect((await hw("completion", "bash")).stdout).toContain("complete");
  await directory.remove();
});
