import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRegistry } from "../../platform/process/registry.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { registryDirectory, withRegistry } from "./registry-support.ts";

const registry = withRegistry();
const keys = (await readRegistry(registryDirectory)).map(({ key }) => key);

test.each(keys)("%s is what its index says of it, and says what a person needs", async (key) => {
  const entry = registry.entries.find((each) => each.key === key);
  if (entry === undefined) throw new Error("it is gone");
  const { definition } = await registry.build(entry);
  expect(definition).toEqual(entry.definition);
  expect(definition.key).toBe(key);
  expect(key).toMatch(/^headwater-[a-z-]+$/);
  expect(definition.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(definition.description).toMatch(/^[A-Z].{20,}[^.]$/);
  const shown = definition.props.filter(({ type }) => type !== "$.service.db");
  expect(shown.filter(({ label, description }) => label === undefined || description === undefined).map(({ name }) => name)).toEqual([]);
});

test("they import types, one another's parts and Node's modules, and nothing that a network would have to bring", () => {
  const texts = registry.entries.flatMap(({ code, files = {} }) => [code, ...Object.values(files)]);
  const imported = texts.flatMap((text) => [...text.matchAll(/\bfrom "([^"]+)"/g)].map(([, from = ""]) => from));
  expect(imported.filter((from) => from !== "headwater/types" && !/^(\.|node:)/.test(from))).toEqual([]);
});

test("each has a section in the README", async () => {
  const readme = await readFile(join(registryDirectory, "README.md"), "utf8");
  expect([...readme.matchAll(/^## `(headwater-[a-z-]+)`$/gm)].map(([, key]) => key).toSorted()).toEqual(keys.toSorted());
});

test("a registry whose files are missing says so", async () => {
  const directory = await temporaryDirectory("registry");
  await expect(readRegistry(directory.path)).rejects.toThrow(/cannot be read: reinstall/);
  await directory.remove();
});
