import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceTemplates, withWrittenProjects } from "./written-projects.ts";

const projects = withWrittenProjects();
const { headwater, init } = projects;

// The first one is that of init.test.ts.
describe.each(sourceTemplates.slice(1))("hw init source --template %s", (template) => {
  projects.testTemplate(template);
});

describe.each(sourceTemplates)("hw init source --js --template %s", (template) => {
  it("writes it in JavaScript", async () => {
    const name = `${template}-js`;
    expect((await init("source", name, "--template", template, "--js")).code).toBe(0);
    expect(await projects.test(name)).toMatch(/pass 1/);
    expect((await headwater.hw("validate", `${name}/${name}.mjs`)).code).toBe(0);
  });
});

describe("hw init", () => {
  it("writes a source in TypeScript whose test fails on a Node that runs no TypeScript", async () => {
    await init("source", "older");
    const older = { NODE_OPTIONS: "--no-experimental-strip-types" };
    await expect(projects.test("older", older)).rejects.toThrow(/npm test needs Node 22\.18 or later and this is \d/);
  });

  it("writes a source whose types find mistakes", async () => {
    await init("source", "typed");
    const path = join(projects.folderOf("typed"), "typed.ts");
    await writeFile(path, (await readFile(path, "utf8")).replace("this.db.get", "this.nothing.get"));
    expect(await projects.compile("typed")).toContain("Property 'nothing' does not exist");
  });
});
