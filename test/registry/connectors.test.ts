import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isPackageName } from "../../domain/component/npm-origin.ts";
import { readConnectors } from "../../platform/process/connectors.ts";
import { withTable } from "../../scripts/connectors/table.ts";
import { memberOf, packageOf } from "../sandbox/connector-runs/contract.ts";
import { services } from "../sandbox/connector-runs/services/all.ts";

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
  expect(withTable(page, index, services)).toBe(page);
});

it("has each member that tests run, once a package", () => {
  const known = new Set(
    index.connectors.flatMap(({ name, actions, triggers }) => [
      ...actions.map((action) => `${name}#action/${action.name}`),
      ...triggers.map((trigger) => `${name}#trigger/${trigger.name}`),
    ]),
  );
  const run = services.flatMap((service) => service.cases.map((each) => `${packageOf(service).name}#${memberOf(each)}`));
  expect(run.filter((member) => !known.has(member))).toEqual([]);
  const names = services.map((service) => packageOf(service).name);
  expect(names).toEqual([...new Set(names)]);
});
