import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { templates } from "../../cli/init/templates.ts";
import { hw, inherited, type Ended } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const root = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);

export const sourceTemplates = templates.filter(({ kind }) => kind === "source").map(({ name }) => name);

/** What `hw init` writes, and an installation for it. */
export function withWrittenProjects() {
  const headwater = withInstallation();
  const folderOf = (name: string): string => join(headwater.world.directory, name);
  const init = (...args: readonly string[]): Promise<Ended> => hw(headwater.world, ["init", ...args]);

  /** Runs the project's `npm test`. @returns what it prints; rejects if a test fails */
  async function test(name: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`;
    const { stdout } = await run("npm", ["test"], { cwd: folderOf(name), env: { ...inherited(), PATH: path, ...env } });
    return stdout;
  }

  /** @returns what the compiler prints: nothing if the types are right */
  async function compile(name: string): Promise<string> {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const args = [compiler, "-p", folderOf(name), "--typeRoots", join(root, "node_modules/@types")];
    return run(process.execPath, args).then(
      () => "",
      (error: unknown) => String((error as { stdout: string }).stdout), // What execFile rejects with.
    );
  }

  function testTemplate(template: string): void {
    it("writes a source that compiles, builds, and passes its test", async () => {
      const name = `${template}-ts`;
      const { code, stdout } = await init("source", name, "--template", template);
      expect({ code, next: stdout.includes(`hw dev ${name}/${name}.ts`) }).toEqual({ code: 0, next: true });
      expect(await compile(name)).toBe("");
      expect(await test(name)).toMatch(/pass 1/);
      expect((await headwater.hw("validate", `${name}/${name}.ts`)).code).toBe(0);
    });
  }

  return { headwater, folderOf, init, test, compile, testTemplate };
}
