import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRegistry } from "../../platform/process/registry.ts";
import { registryAnswers } from "../support/npm-registry.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { registryDirectory, withRegistry } from "./registry-support.ts";

const registry = withRegistry();
const keys = (await readRegistry(registryDirectory)).map(({ key }) => key);

/** Components that import npm packages, with the exact versions. */
const packages: Readonly<Record<string, readonly string[]>> = {
  "headwater-postgres-query": ["pg@8.23.1"],
  "headwater-postgres-upsert": ["pg@8.23.1"],
  "headwater-send-mail": ["nodemailer@10.6.0"],
};

test.for(keys)("%s is what its index says of it, and says what a person needs", async (key, { skip }) => {
  skip(key in packages && !(await registryAnswers()), "the npm registry does not answer");
  const entry = registry.entries.find((each) => each.key === key);
  if (entry === undefined) throw new Error("it is gone");
  const { definition } = await registry.build(entry);
  expect(definition).toEqual(entry.definition);
  expect(definition.key).toBe(key);
  expect(key).toMatch(/^headwater-[a-z0-9-]+$/);
  expect(definition.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(definition.description).toMatch(/^[A-Z].{20,}[^.]$/);
  const shown = definition.props.filter(({ type }) => type !== "$.service.db");
  expect(shown.filter(({ label, description }) => label === undefined || description === undefined).map(({ name }) => name)).toEqual([]);
});

test.each(keys)("%s imports types, files of the registry, Node's modules, and only the packages that its list names", (key) => {
  const { code, files = {} } = registry.entries.find((each) => each.key === key) ?? { code: "" };
  const imported = [code, ...Object.values(files)].flatMap((text) => [...text.matchAll(/\bfrom "([^"]+)"/g)].map(([, from = ""]) => from));
  expect(imported.filter((from) => from !== "headwater/types" && !/^(\.|node:)/.test(from))).toEqual(packages[key] ?? []);
});

test("each has a section in the README", async () => {
  const readme = await readFile(join(registryDirectory, "README.md"), "utf8");
  expect([...readme.matchAll(/^## `(headwater-[a-z0-9-]+)`$/gm)].map(([, key]) => key).toSorted()).toEqual(keys.toSorted());
});

test("a registry whose files are missing says so", async () => {
  const directory = await temporaryDirectory("registry");
  await expect(readRegistry(directory.path)).rejects.toThrow(/cannot be read: reinstall/);
  await directory.remove();
});
