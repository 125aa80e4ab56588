import { join } from "node:path";
import { expect, it } from "vitest";
import { postJson } from "../support/system/sources.ts";
import { exports, writeExport } from "./import-exports.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly triggers: readonly { readonly endpoint_url?: string }[];
}

it("runs an exported workflow after hw import, hw variables set and hw apply", async () => {
  const folder = await writeExport(join(headwater.world.directory, "export"), exports.greeting);
  await headwater.ok("import", "pipedream", folder, "--to", "moved");
  await headwater.ok("variables", "set", "GREETING", "Hello");
  expect(await headwater.ok("apply", "-f", "moved/greeting.yaml")).toContain("workflow/greeting created");
  const { body } = await headwater.call<{ readonly data: readonly Workflow[] }>("GET", "/users/me/workflows");
  const workflow = body.data.find(({ name }) => name === "greeting");
  const response = await postJson(workflow?.triggers[0]?.endpoint_url ?? "", { name: "ada lovelace" });
  expect([response.status, await response.json()]).toEqual([201, { text: "Hello, adaLovelace" }]);
});

it("deploys a workflow with a gap switched off", async () => {
  const folder = await writeExport(join(headwater.world.directory, "with-gaps"), exports.languages);
  await headwater.ok("import", "pipedream", folder, "--to", "gaps");
  await headwater.ok("apply", "-f", "gaps/polyglot.yaml");
  const { body } = await headwater.call<{ readonly data: readonly { readonly name: string; readonly active: boolean }[] }>(
    "GET",
    "/users/me/workflows",
  );
  expect(body.data.find(({ name }) => name === "polyglot")?.active).toBe(false);
});
