import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

const plain = (value: string): string => `
apiVersion: headwater.dev/v1alpha1
kind: Variable
metadata: { name: api-url }
spec: { name: API_URL, value: ${JSON.stringify(value)} }
`;
const secret = `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { api: hush-hush }
---
apiVersion: headwater.dev/v1alpha1
kind: Variable
metadata: { name: api-key }
spec: { name: API_KEY, valueFrom: { secretKeyRef: { name: keys, key: api } } }
`;

async function fileOf(...documents: readonly string[]): Promise<string> {
  const file = join(headwater.world.directory, "variables.yaml");
  await writeFile(file, documents.join("\n---\n"));
  return file;
}
const apply = async (...documents: readonly string[]): Promise<readonly string[]> =>
  (await headwater.ok("apply", "-f", await fileOf(...documents))).trim().split("\n");
const listed = async () => {
  const { body } = await headwater.call<{ data: readonly { name: string; value: string | null }[] }>("GET", "/variables");
  return body.data.map(({ name, value }) => [name, value]);
};

it("creates variables, changes what differs, exports them without secrets, and deletes them", async () => {
  expect(await apply(plain("https://one.example"), secret)).toEqual(["variable/api-url created", "variable/api-key created"]);
  expect(await listed()).toEqual([
    ["API_KEY", null],
    ["API_URL", "https://one.example"],
  ]);
  expect(await apply(plain("https://one.example"), secret)).toEqual(["variable/api-url unchanged", "variable/api-key unchanged"]);
  expect(await apply(plain("https://two.example"))).toEqual(["variable/api-url changed"]);
  expect(await headwater.ok("list", "variables")).toMatch(/API_KEY +\(secret\) +own[^]*API_URL +https:\/\/two\.example/);
  const exported = await headwater.ok("export", "variables");
  expect(exported).toMatch(/kind: Variable\nmetadata:\n {2}name: api-url/);
  expect(exported).toContain("value: https://two.example");
  expect(exported).not.toContain("hush");
  const { stdout } = await headwater.hw("diff", "-f", await fileOf(plain("https://three.example")));
  expect(stdout).toMatch(/- value: .*two\.example\n\+ value: .*three\.example/);
  await headwater.ok("delete", "variable/API_URL", "--yes");
  expect(await listed()).toEqual([["API_KEY", null]]);
});

it("refuses variables of the installation, and secrets that the files do not have", async () => {
  const shared = plain("x").replace("value:", "shared: true, value:");
  const refused = async (...documents: readonly string[]) => (await headwater.hw("apply", "-f", await fileOf(...documents))).stderr;
  expect(await refused(shared)).toContain("Variable api-url is shared\n    an administrator sets it");
  expect(await refused(secret.slice(secret.indexOf("---") + 4).replace("API_KEY", "OTHER_KEY"))).toContain(
    "refers to Secret keys, which is not in the files",
  );
});
