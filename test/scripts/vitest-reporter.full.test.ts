import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { root } from "../../scripts/checks.ts";
import { orderVariable } from "../../scripts/vitest-sequencer.ts";
import { reportVariable, type TestRun } from "../../scripts/vitest.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const tests = `import { afterAll, beforeAll, describe, expect, it } from "vitest";
describe("before", () => {
  beforeAll(() => { throw new Error("no server"); });
  it("is skipped", () => expect(1).toBe(1));
});
describe("after", () => {
  afterAll(() => { throw new Error("a leak:\\n  one timer"); });
  it("passes", () => expect(1).toBe(1));
  it("fails", () => expect(1).toBe(2));
});
`;

const computing = `import { it } from "vitest";
it("passes", () => {
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 100_000);
});
`;

it("reports each failed test and hook with its message and line, counts the tests, and keeps a given order", async () => {
  const directory = await temporaryDirectory("reporter");
  onTestFinished(() => directory.remove());
  const report = join(directory.path, "report.json");
  await symlink(join(root, "node_modules"), join(directory.path, "node_modules"));
  const config = { isolate: false, maxWorkers: 1, setupFiles: [join(root, "test/support/file-meta.ts")] };
  await writeFile(
    join(directory.path, "vitest.config.js"),
    `import { GivenOrder } from "${join(root, "scripts/vitest-sequencer.ts")}";
    export default { test: { ...${JSON.stringify(config)}, sequence: { sequencer: GivenOrder } } };`,
  );
  await writeFile(join(directory.path, "a.test.js"), computing);
  await writeFile(join(directory.path, "some.test.js"), tests);
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const reporter = `--reporter=${join(root, "scripts/vitest-reporter.ts")}`;
  const order = ["a.test.js", "some.test.js"].map((file) => relative(root, join(directory.path, file)));
  const env = { ...process.env, [reportVariable]: report, [orderVariable]: order.join(" ") };
  const run = promisify(execFile)(process.execPath, [program, "run", `--root=${directory.path}`, reporter], { env });
  await expect(run).rejects.toMatchObject({ code: 1 });
  const { failures, files, ...tally } = JSON.parse(
    (await readFile(report, "utf8")).replaceAll(`${relative(root, directory.path)}/`, ""),
  ) as TestRun;
  expect(tally).toEqual({ passed: 2, failed: 3, skipped: 1 });
  expect(files.map(({ path, failed, before }) => ({ path, failed, before }))).toEqual([
    { path: "a.test.js", failed: false, before: [] },
    { path: "some.test.js", failed: true, before: ["a.test.js"] },
  ]);
  expect(files[0]?.cpuSeconds).toBeGreaterThan(0.05);
  expect(failures.map(({ name, message }) => [name, message])).toEqual([
    ["some.test.js before, a hook (some.test.js:3)", "no server"],
    ["some.test.js after, a hook (some.test.js:7)", "a leak: one timer"],
    ["some.test.js after > fails (some.test.js:9)", "expected 1 to be 2 // Object.is equality"],
  ]);
});
