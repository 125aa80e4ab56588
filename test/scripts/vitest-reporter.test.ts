import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { root } from "../../scripts/checks.ts";
import { reportVariable } from "../../scripts/vitest.ts";
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

it("reports each failed test and hook with its message and line, and counts the tests", async () => {
  const directory = await temporaryDirectory("reporter");
  onTestFinished(() => directory.remove());
  const report = join(directory.path, "report.json");
  await symlink(join(root, "node_modules"), join(directory.path, "node_modules"));
  await writeFile(join(directory.path, "some.test.js"), tests);
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const reporter = `--reporter=${join(root, "scripts/vitest-reporter.ts")}`;
  const env = { ...process.env, [reportVariable]: report };
  const run = promisify(execFile)(process.execPath, [program, "run", `--root=${directory.path}`, reporter], { env });
  await expect(run).rejects.toMatchObject({ code: 1 });
  const { failures, ...tally } = JSON.parse(await readFile(report, "utf8")) as { failures: readonly { name: string; message: string }[] };
  expect(tally).toEqual({ passed: 1, failed: 3, skipped: 1 });
  expect(failures.map(({ name, message }) => [name.replaceAll(`${relative(root, directory.path)}/`, ""), message])).toEqual([
    ["some.test.js before, a hook (some.test.js:3)", "no server"],
    ["some.test.js after, a hook (some.test.js:7)", "a leak: one timer"],
    ["some.test.js after > fails (some.test.js:9)", "expected 1 to be 2 // Object.is equality"],
  ]);
});
