import { describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";

/** Props of type `file` of steps of a workflow, on a whole installation. */
const headwater = withSystem();

interface Run {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly message: string; readonly code?: string } | null;
  readonly steps: readonly { readonly name: string; readonly return_value: unknown }[];
}

const save = {
  name: "save",
  component_code: `import fs from "node:fs"; export default { type: "action", name: "Save", version: "1.0.0", async run({ $ }) {
    fs.writeFileSync("/tmp/report.txt", "below /tmp"); const file = await $.files.open("stored.txt").write("in $.files"); return { file, url: await file.toUrl() }; } };`,
};
/** Names no built-in, and not `$.files`. */
const read = (name: string, file: unknown) => ({
  name,
  component_code: `export default { type: "action", name: "Read", version: "1.0.0", props: { file: { type: "file", label: "File" } },
    async run() { return await this.file.toEncodedString(); } };`,
  props: { file },
});

const create = (steps: readonly object[]) =>
  headwater.call<{ readonly data: { readonly id: string }; readonly error: string }>("POST", "/workflows", { name: "Takes files", steps });

async function run(steps: readonly object[]): Promise<Run> {
  const { status, body, text } = await create(steps);
  expect(status, text).toBe(200);
  const started = await headwater.call<{ readonly data: Run }>("POST", `/workflows/${body.data.id}/runs`, { event: {} });
  return (await headwater.call<{ readonly data: Run }>("GET", `/workflows/${body.data.id}/runs/${started.body.data.id}`)).body.data;
}

describe("a file prop of a step", () => {
  it("has the file that an earlier step has left, by path, by what it has exported, and by its URL", async () => {
    const given = [
      read("path", "/tmp/report.txt"),
      read("relative", "report.txt"),
      read("exported", "{{ steps.save.$return_value.file }}"),
      read("exported_path", "{{ steps.save.$return_value.file.path }}"),
      read("url", "{{ steps.save.$return_value.url }}"),
    ];
    const ran = await run([save, ...given]);
    expect(ran.error).toBeNull();
    const values = ran.steps.slice(1).map(({ name, return_value: value }) => [name, value]);
    expect(values).toEqual([
      ["path", "below /tmp"],
      ["relative", "below /tmp"],
      ["exported", "in $.files"],
      ["exported_path", "in $.files"],
      ["url", "in $.files"],
    ]);
  });

  it("is checked when the workflow is saved, and when an expression has given its value", async () => {
    const refused = await create([read("one", "ftp://example.com/a")]);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("must be a path below /tmp such as /tmp/report.pdf, or an http or https URL");
    const ran = await run([read("two", "{{ 'ftp://example.com/a' }}")]);
    expect(ran).toMatchObject({ status: "failed", error: { code: "expression_failed" } });
  });
});
