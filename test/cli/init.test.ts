import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { templates } from "../../cli/init/templates.ts";
import { isFull, sampleOf } from "../support/command.ts";
import { hw, inherited, type Ended } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const root = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
const headwater = withInstallation();

const init = (...args: readonly string[]): Promise<Ended> => hw(headwater.world, ["init", ...args]);
const folderOf = (name: string): string => join(headwater.world.directory, name);

/** Runs the project's `npm test`. @returns what it prints; rejects if a test fails */
async function projectTest(name: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`;
  const { stdout } = await run("npm", ["test"], { cwd: folderOf(name), env: { ...inherited(), PATH: path, ...env } });
  return stdout;
}

async function compile(name: string): Promise<string> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const args = [compiler, "-p", folderOf(name), "--typeRoots", join(root, "node_modules/@types")];
  return run(process.execPath, args).then(
    () => "",
    (error: unknown) => String((error as { stdout: string }).stdout), // What execFile rejects with.
  );
}

const sources = templates.filter(({ kind }) => kind === "source").map(({ name }) => name);

describe.each(sampleOf(sources))("hw init source --template %s", (template) => {
  it("writes a source that compiles, builds, and passes its test", async () => {
    const name = `${template}-ts`;
    const { code, stdout } = await init("source", name, "--template", template);
    expect({ code, next: stdout.includes(`hw dev ${name}/${name}.ts`) }).toEqual({ code: 0, next: true });
    expect(await compile(name)).toBe("");
    expect(await projectTest(name)).toMatch(/pass 1/);
    expect((await headwater.hw("validate", `${name}/${name}.ts`)).code).toBe(0);
  });

  it.runIf(isFull)("writes it in JavaScript", async () => {
    const name = `${template}-js`;
    expect((await init("source", name, "--template", template, "--js")).code).toBe(0);
    expect(await projectTest(name)).toMatch(/pass 1/);
    expect((await headwater.hw("validate", `${name}/${name}.mjs`)).code).toBe(0);
  });
});

it.runIf(isFull)("writes a source in TypeScript whose test fails on a Node that runs no TypeScript", async () => {
  await init("source", "older");
  const older = { NODE_OPTIONS: "--no-experimental-strip-types" };
  await expect(projectTest("older", older)).rejects.toThrow(/npm test needs Node 22\.18 or later and this is \d/);
});

it.runIf(isFull)("writes a source whose types find mistakes", async () => {
  await init("source", "typed");
  const path = join(folderOf("typed"), "typed.ts");
  await writeFile(path, (await readFile(path, "utf8")).replace("this.db.get", "this.nothing.get"));
  expect(await compile("typed")).toContain("Property 'nothing' does not exist");
});

it("writes an action and a workflow, which are deployed", async () => {
  expect((await init("action", "wave")).code).toBe(0);
  expect(await projectTest("wave")).toMatch(/pass 1/);
  expect((await headwater.hw("publish", "wave/wave.ts")).code).toBe(0);
  expect((await init("workflow", "welcome")).code).toBe(0);
  expect(await projectTest("welcome")).toMatch(/pass 1/);
  expect(await headwater.ok("deploy", "welcome/workflow.yaml")).toMatch(/^workflow welcome created \(p_/);
  expect(await headwater.ok("deploy", "welcome/workflow.yaml")).toMatch(/^workflow welcome changed \(p_/);
});

it("refuses a folder that is not empty, and an invalid name", async () => {
  await init("source", "twice");
  const { code, stderr } = await init("source", "twice");
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("is not empty") as unknown });
  expect((await init("source", "../a b")).code).toBe(2);
  expect((await init("source", "x", "--template", "none")).code).toBe(2);
});
