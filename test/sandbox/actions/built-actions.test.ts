import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { type BuilderFixture, openBuilderFixture } from "../builder-fixture.ts";
import { requestFor } from "../sandbox-fixture.ts";
import { returned, type StepRun, stepRequest } from "./action-support.ts";

let opened: BuilderFixture;
beforeAll(async () => {
  opened = await openBuilderFixture();
});
afterAll(() => opened.stop());

/** Builds, inspects and runs it, as the operator and a runner do. */
async function run(code: string, step: StepRun = {}): Promise<Execution> {
  const build = await opened.builder.build({ code });
  return await opened.fixture.sandbox.execute(requestFor(opened.bundleOf(build), { source: build.bundle, ...stepRequest(step) }));
}

describe("actions as they are written", () => {
  it.each([
    ["for the known service", `export default defineComponent({ async run({ steps, $ }) { return steps.trigger.event; } })`],
    [
      "with defineAction",
      `import { defineAction } from "@pipedream/types"; export default defineAction({ name: "a", type: "action", async run({ steps, $ }) { return steps.trigger.event; } });`,
    ],
    [
      "with headwater/types",
      `import { defineAction } from "headwater/types"; export default defineAction({ name: "a", type: "action", async run({ steps, $ }) { return steps.trigger.event; } });`,
    ],
    ["as CommonJS", `module.exports = { name: "a", type: "action", run: async ({ steps, $ }) => steps.trigger.event };`],
    [
      "in TypeScript",
      `interface Event { a: number } export default { name: "a", type: "action", async run({ steps }: { steps: { trigger: { event: Event } } }) { return steps.trigger.event; } };`,
    ],
  ])("%s", async (_form, code) => {
    expect(returned(await run(code, { steps: { trigger: { event: { a: 1 } } } }))).toEqual({ a: 1 });
  });

  it.each([
    `async run({ $ }) { return await (await $.files.open("a").write("x")).toEncodedString(); }`,
    `async run(step) { return await (await step.$.files.open("a").write("x")).toEncodedString(); }`,
  ])("have files without an import: %s", async (method) => {
    expect(returned(await run(`export default { name: "a", type: "action", ${method} };`))).toBe("x");
  });

  it.each([`"file"`, `{ type: "file" }`, `{ propDefinition: [{ type: "app", app: "x", propDefinitions: { f: { type: "file" } } }, "f"] }`])(
    "have the file of a prop without an import: %s",
    async (prop) => {
      const code = `export default { name: "a", type: "action", props: { f: ${prop} }, async run() { return await (await this.f.write("x")).toEncodedString(); } };`;
      expect(returned(await run(code, { props: { f: "/tmp/a.txt" } }))).toBe("x");
    },
  );

  it("need no file system of their own otherwise", async () => {
    const { needsNode } = await opened.builder.build({
      code: `export default { name: "a", type: "action", async run({ $ }) { return $.context; } };`,
    });
    expect(needsNode).toBe(false);
  });

  it("pass `$` to the axios of the platform", async () => {
    const code = `import { axios } from "@pipedream/platform"; export default { name: "a", type: "action", async run({ $ }) {
      try { await axios($, { url: "http://127.0.0.1:1/" }); } catch (error) { return error instanceof Error; } } };`;
    expect(returned(await run(code))).toBe(true);
  });
});
