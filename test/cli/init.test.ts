import { describe, expect, it } from "vitest";
import { sourceTemplates, withWrittenProjects } from "./written-projects.ts";

const projects = withWrittenProjects();
const { headwater, init } = projects;

describe.each(sourceTemplates.slice(0, 1))("hw init source --template %s", (template) => {
  projects.testTemplate(template);
});

it("writes an action and a workflow, which are deployed", async () => {
  expect((await init("action", "wave")).code).toBe(0);
  expect(await projects.test("wave")).toMatch(/pass 1/);
  expect((await headwater.hw("publish", "wave/wave.ts")).code).toBe(0);
  expect((await init("workflow", "welcome")).code).toBe(0);
  expect(await projects.test("welcome")).toMatch(/pass 1/);
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
