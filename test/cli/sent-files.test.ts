import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectFiles } from "../../cli/component/files.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { hw, inherited, program, type World } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const component = (imports: string): string => `${imports}\nexport default { name: "Foreign", version: "0.0.1", run() {} };\n`;

let home: TemporaryDirectory;

/** Writes files of a home: another person's project, and what must stay there. */
beforeAll(async () => {
  home = await temporaryDirectory("sent-files");
  const files: Readonly<Record<string, string>> = {
    ".config/tool.json": '{"token":"secret"}',
    ".ssh/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    "project/package.json": "{}",
    "project/common/word.mjs": 'export const word = "one";\n',
    "project/sources/good.mjs": component('import { word } from "../common/word.mjs"; word;'),
    "project/sources/bad.mjs": component('import token from "../../.config/tool.json"; token;'),
    "project/sources/comment.mjs": component('// import token from "../../.config/tool.json"'),
    "project/sources/linked.mjs": component('import token from "./linked.json"; token;'),
    "project/steps.yaml": "name: foreign\nsteps:\n  - { name: first, file: ../.config/step.mjs }\n",
    ".config/step.mjs": component(""),
    "alone/alone.mjs": component('import { word } from "../project/common/word.mjs"; word;'),
    "repository/.git/HEAD": "ref: refs/heads/main\n",
    "repository/a/a.mjs": component('import { word } from "../b/word.mjs"; word;'),
    "repository/b/word.mjs": 'export const word = "two";\n',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(home.path, dirname(path)), { recursive: true });
    await writeFile(join(home.path, path), text);
  }
  await symlink(join(home.path, ".config/tool.json"), join(home.path, "project/sources/linked.json"));
});
afterAll(() => home.remove());

const namesOf = async (entry: string, root?: string): Promise<readonly string[]> =>
  Object.keys((await collectFiles(join(home.path, entry), root === undefined ? {} : { root: join(home.path, root) })).component_files);

describe("files of a component", () => {
  it("are those below the nearest package.json or repository", async () => {
    expect(await namesOf("project/sources/good.mjs")).toEqual(["sources/good.mjs", "common/word.mjs"]);
    expect(await namesOf("repository/a/a.mjs")).toEqual(["a/a.mjs", "b/word.mjs"]);
  });

  it.each(["bad", "comment", "linked"])("are refused outside of it: %s.mjs", async (name) => {
    const refused = /imports "[./]+(?:\.config\/tool|linked)\.json", and .*\.json is outside .*project$/;
    await expect(namesOf(`project/sources/${name}.mjs`)).rejects.toThrow(refused);
  });

  it("are those of its folder if there is neither", async () => {
    await expect(namesOf("alone/alone.mjs")).rejects.toThrow(/is outside .*alone$/);
  });

  it("are those below --root if it is given", async () => {
    expect(await namesOf("alone/alone.mjs", ".")).toEqual(["alone/alone.mjs", "project/common/word.mjs"]);
    await expect(namesOf("project/sources/good.mjs", "project/sources")).rejects.toThrow("is outside");
  });
});

describe("commands that send files", () => {
  const headwater = withInstallation();
  let world: World;
  beforeAll(async () => {
    const url = headwater.apiUrl.replace(/\/v1$/, "");
    world = { directory: home.path, env: { ...headwater.world.env, HEADWATER_URL: url, HEADWATER_API_KEY: headwater.key } };
  });

  it.each(["deploy", "validate", "publish", "props", "dev"])("hw %s takes no file from above the project", async (command) => {
    const { code, stderr } = await hw(world, [command, "project/sources/bad.mjs"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/tool\.json is outside .*\n {4}--root FOLDER/)]);
  });

  it.each(["deploy", "validate"])("hw %s takes no step from above the project of a workflow", async (command) => {
    const { code, stderr } = await hw(world, [command, "project/steps.yaml"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("step.mjs is outside")]);
  });

  it("list what they send, unless it is one file, and take --root", async () => {
    const { code, stderr } = await hw(world, ["deploy", "project/sources/good.mjs", "--name", "listed"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("sending sources/good.mjs, common/word.mjs\n")]);
    expect(await hw(world, ["validate", "alone/alone.mjs", "--root", "."])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("sending alone/alone.mjs, project/common/word.mjs\n") as unknown,
    });
  });

  it("of hw mcp read only code below the working directory", async () => {
    const client = new Client({ name: "test", version: "1" });
    const cwd = join(home.path, "project");
    const args = [program, "mcp", "--write"];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: { ...inherited(), ...world.env } }));
    const textOf = async (name: string, given: Readonly<Record<string, unknown>>): Promise<string> =>
      JSON.stringify((await client.callTool({ name, arguments: given })).content);
    try {
      for (const file of [join(home.path, ".ssh/id_rsa"), "../.ssh/id_rsa", "package.json"]) {
        expect(await textOf("validate", { file })).toContain("is no component");
        expect(await textOf("deploy", { component: file })).toMatch(/is no component|is outside/);
      }
      expect(await textOf("validate", { file: "../.config/step.mjs" })).toContain("is outside");
      expect(await textOf("validate", { file: "../repository/a/a.mjs" })).toContain("is outside");
      expect(await textOf("validate", { file: "sources/bad.mjs" })).toContain("is outside");
      expect(await textOf("validate", { file: "sources/linked.mjs" })).toContain("is outside");
      expect(await textOf("validate", { file: "sources/good.mjs" })).toContain("Foreign");
    } finally {
      await client.close();
    }
  });
});
