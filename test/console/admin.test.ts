import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const directory = await mkdtemp(join(tmpdir(), "headwater-admin-"));
const file = join(directory, "token");
await writeFile(file, adminToken, { mode: 0o600 });
afterAll(() => rm(directory, { recursive: true }));

const world = withConsole({ env: { HEADWATER_ADMIN_TOKEN_FILE: file } });

async function open(path: string): Promise<Page> {
  const page = await world.open(path);
  await page.getByLabel(/^Admin token/).fill(adminToken);
  await page.getByRole("button", { name: "Continue" }).click();
  return page;
}

describe.skipIf(chromiumPath === undefined)("the pages of operators", () => {
  test("refuse a wrong admin token", async () => {
    const page = await world.open("/admin");
    await page.getByLabel(/^Admin token/).fill("wrong");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The admin token was refused").waitFor();
    await expectAccessible(page);
  });

  test("show the state of the installation, and of one pool by the address", async () => {
    const page = await open("/operations?pool=default");
    await page.getByText("Pool default").waitFor();
    await page.getByRole("cell", { name: "INVOCATIONS" }).waitFor();
    await page.getByRole("table", { name: "Delivery replicas" }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    const other = await open("/operations?pool=none-of-this-name");
    await other.getByText("No runner of this pool is alive").waitFor();
  });

  test("create a user with a key that works, change the plan, and delete the user", async () => {
    const page = await open("/admin");
    await page.getByLabel(/^Username/).fill("cleo");
    await page.getByLabel(/^E-mail/).fill("cleo@example.com");
    await page.getByRole("button", { name: "Create" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "cleo@example.com" });
    await row.getByRole("button", { name: "New key" }).click();
    const key = (await page.getByRole("dialog").getByText(/^hw_/).textContent()) ?? "";
    const me = await fetch(`${world.headwater.apiUrl}/users/me`, { headers: { authorization: `Bearer ${key}` } });
    expect(me.status).toBe(200);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Plans" }).click();
    await page.getByLabel(/^Name/).fill("small");
    await page.getByLabel("Runs a day").fill("100");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "small", exact: true }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("link", { name: "Users" }).click();
    await row.getByLabel("Plan: cleo").selectOption("small");
    await page.getByText("cleo has the plan small").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByLabel("Type cleo to confirm").fill("cleo");
    await page.keyboard.press("Enter");
    await page.getByText("cleo was deleted").first().waitFor();
    await row.waitFor({ state: "detached" });
  });

  test("create an organization", async () => {
    const page = await open("/admin?tab=organizations");
    await page.getByLabel(/^Name/).fill("Acme");
    await page.getByLabel(/^Username/).fill("acme");
    await page.getByLabel(/^E-mail/).fill("acme@example.com");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("listitem").filter({ hasText: "Acme" }).waitFor();
    await expectAccessible(page);
  });

  test("change one field of a plan, and keep the others", async () => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const address = `${world.url}/admin/v1/plans/large`;
    const plan = { form: "paid", daily_invocations_quota: 500, daily_compute_time_quota: 60_000, weight: 2, max_organizations: 3 };
    expect((await fetch(address, { method: "PUT", headers, body: JSON.stringify(plan) })).status).toBe(200);
    const page = await open("/admin?tab=plans");
    await page.getByRole("button", { name: "Change: large" }).click();
    await page.getByLabel("Weight").fill("7");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The plan large was saved").first().waitFor();
    const { data } = (await (await fetch(`${world.url}/admin/v1/plans`, { headers })).json()) as { data: { readonly name: string }[] };
    expect(data.find(({ name }) => name === "large")).toEqual({ name: "large", ...plan, weight: 7 });
  });
});
