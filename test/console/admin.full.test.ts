import { describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, openAsOperator, withConsole } from "./support/console.ts";

const world = withConsole();

describe.skipIf(chromiumPath === undefined)("the pages of operators", () => {
  test("refuse a wrong admin token", async () => {
    const page = await world.open("/admin");
    await page.getByLabel(/^Admin token/).fill("wrong");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The admin token was refused").waitFor();
    await expectAccessible(page);
  });

  test("create a user with a key that works, change the plan, and delete the user", async () => {
    const page = await openAsOperator(world, "/admin");
    await page.getByLabel(/^Username/).fill("cleo");
    await page.getByLabel(/^E-mail/).fill("cleo@example.com");
    await page.getByRole("button", { name: "Create" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "cleo@example.com" });
    await row.getByRole("button", { name: "New key" }).click();
    const key = (await page.getByRole("dialog").getByText(/^hw_/).textContent()) ?? "";
    const me = await fetch(`${world.user.apiUrl}/users/me`, { headers: { authorization: `Bearer ${key}` } });
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

  test("change one field of a plan, and keep the others", async () => {
    const plan = { form: "paid", daily_invocations_quota: 500, daily_compute_time_quota: 60_000, weight: 2, max_organizations: 3 };
    expect((await world.user.asAdmin("PUT", "/plans/large", plan)).status).toBe(200);
    const page = await openAsOperator(world, "/admin?tab=plans");
    await page.getByRole("button", { name: "Change: large" }).click();
    await page.getByLabel("Weight").fill("7");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The plan large was saved").first().waitFor();
    const { body } = await world.user.asAdmin<{ readonly data: readonly { readonly name: string }[] }>("GET", "/plans");
    expect(body.data.find(({ name }) => name === "large")).toEqual({ name: "large", ...plan, weight: 7 });
  });
});
