import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isPackageName } from "../../domain/component/npm-origin.ts";
import { readConnectors } from "../../platform/process/connectors.ts";
import { withTable } from "../../scripts/connectors/table.ts";

const index = await readConnectors();

it("has each package once, in the order of the alphabet, with members that addresses can name", () => {
  const names = index.connectors.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].sort());
  expect(names.every(isPackageName)).toBe(true);
  const members = index.connectors.flatMap(({ actions, triggers }) => [...actions, ...triggers]);
  expect(members.filter(({ name }) => !/^[\w./-]+$/.test(name))).toEqual([]);
});

it("is what the table of docs/connectors.md shows", async () => {
  const page = await readFile(join(import.meta.dirname, "..", "..", "docs", "connectors.md"), "utf8");
  expect(withTable(page, index)).toBe(page);
});
