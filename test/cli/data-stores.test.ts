import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

it("creates a store, sets and shows its keys, and deletes it", async () => {
  expect(await headwater.ok("data-stores", "create", "orders", "--description", "by number")).toMatch(/^data store ds_\w+ created\n$/);
  expect(await headwater.ok("ds", "set", "orders", "last", '{"number":7}', "--ttl", "3600")).toMatch(/^last is set, version 1\n$/);
  await headwater.ok("data-stores", "set", "orders", "a key/ä", "[1]");
  expect(JSON.parse(await headwater.ok("data-stores", "get", "orders", "last"))).toEqual({ number: 7 });
  const refused = await headwater.hw("data-stores", "set", "orders", "last", "1", "--if-version", "0");
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("has version 1, and it must not exist")]);
  const [header, ...rows] = (await headwater.ok("data-stores", "keys", "orders")).trim().split("\n");
  expect(header).toMatch(/^KEY +VERSION +SIZE +AGE +EXPIRES$/);
  expect(rows.map((row) => row.replace(/ {2}.*/, ""))).toEqual(["a key/ä", "last"]);
  expect(await headwater.ok("list", "data-stores")).toMatch(/^ID +NAME +ENTRIES +SIZE +AGE\nds_\w+ +orders +2 +\d+ B /);
  await headwater.ok("data-stores", "unset", "orders", "a key/ä");
  expect(await headwater.ok("data-stores", "show", "orders")).toMatch(/orders: 1 entries, 16 B/);
  await headwater.ok("data-stores", "clear", "orders", "--yes");
  expect((await headwater.hw("data-stores", "get", "orders", "last")).code).not.toBe(0);
  await headwater.ok("delete", "data-store/orders", "--yes");
  expect(await headwater.ok("list", "data-stores")).toBe("");
});

const store = (description: string): string => `
apiVersion: headwater.dev/v1alpha1
kind: DataStore
metadata: { name: counts }
spec: { name: counts, description: ${description} }
`;
const workflow = `
apiVersion: headwater.dev/v1alpha1
kind: Workflow
metadata: { name: counter }
spec:
  name: counter
  steps:
    - name: count
      props: { store: { storeId: counts } }
      code: |
        export default { type: "action", name: "Count", props: { store: "data_store" }, run() { return this.store.increment("n"); } };
`;

it("applies a store and the workflow that names it, and exports both by their names", async () => {
  const file = join(headwater.world.directory, "stores.yaml");
  const apply = async (...documents: readonly string[]): Promise<readonly string[]> => {
    await writeFile(file, documents.join("\n---\n"));
    return (await headwater.ok("apply", "-f", file)).trim().split("\n");
  };
  expect(await apply(workflow, store("runs"))).toEqual(["datastore/counts created", "workflow/counter created"]);
  expect(await apply(workflow, store("runs"))).toEqual(["datastore/counts unchanged", "workflow/counter unchanged"]);
  expect(await apply(store("all runs"))).toEqual(["datastore/counts changed"]);
  const exported = await headwater.ok("export", "workflows", "data-stores");
  expect(exported).toMatch(/kind: DataStore\nmetadata:\n {2}name: counts/);
  expect(exported).toMatch(/storeId: counts/);
  const { code, stderr } = await headwater.hw("delete", "data-store/counts", "--yes");
  expect([code, stderr]).toEqual([4, expect.stringMatching(/data store ds_\w+ is used by p_\w+/)]);
  await headwater.ok("delete", "data-store/counts", "--yes", "--force");
});
