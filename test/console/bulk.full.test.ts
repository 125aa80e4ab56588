import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

const world = withConsole();
const code = `export default { name: "Made", props: { http: "$.interface.http" }, run() {} };`;
const names = ["Ada", "Bea", "Cleo", "Dora", "Edda"];
const ids = new Map<string, string>();

const isActive = async (name: string): Promise<boolean> =>
  (await world.api<{ active: boolean }>("GET", `/sources/${ids.get(name)}`)).active;
const activeNames = async (): Promise<readonly string[]> => {
  const states = await Promise.all(names.map(isActive));
  return names.filter((_, index) => states[index]);
};

describe.skipIf(chromiumPath === undefined)("several sources at once", () => {
  beforeAll(async () => {
    for (const name of names) {
      const { id } = await world.api<{ id: string }>("POST", "/sources", { component_code: code, name });
      ids.set(name, id);
    }
  });

  test("are selected by keys and in ranges, paused with progress, and the pause is taken back", async () => {
    const page = await world.open("/sources");
    await page.getByLabel("Select Ada").focus();
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByLabel("Select Ada").press("Space");
    const boxes = await page.getByLabel(/^Select (Ada|Bea|Cleo|Dora|Edda)$/).all();
    await boxes.at(0)?.setChecked(true);
    await boxes.at(2)?.click({ modifiers: ["Shift"] });
    await page.getByText("3 selected").waitFor();
    expect(await page.getByRole("button", { name: "Resume" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Pause: 3 done").waitFor();
    expect(await activeNames()).toHaveLength(2);
    await page.getByRole("button", { name: "Undo" }).click();
    await until(async () => (await activeNames()).length === 5, "all are active again");
  });

  test("stay selected only while the list shows the same", async () => {
    const page = await world.open("/sources");
    await page.getByLabel("Select Ada").check();
    await page.getByText("1 selected").waitFor();
    await page.getByRole("searchbox").first().fill("Bea");
    await page.getByLabel("Select Ada").waitFor({ state: "detached" });
    await page.getByRole("searchbox").first().fill("");
    await page.getByLabel("Select Ada").waitFor();
    expect(await page.getByLabel("Select Ada").isChecked()).toBe(false);
    expect(await page.getByText("1 selected").count()).toBe(0);
  });

  test("are all selected by one box, and what fails is named with its cause while the others are done", async () => {
    const page = await world.open("/sources");
    await page.getByLabel("Select all that are loaded").check();
    await page.getByText("5 selected").waitFor();
    await page.route(`**/v1/sources/${ids.get("Cleo")}`, (route) =>
      route.fulfill({
        status: 409,
        contentType: "application/json",
        body: JSON.stringify({ error: "it is in use", code: "source_in_use" }),
      }),
    );
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel("Type delete 5 to confirm").fill("delete 5");
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Delete: 4 done").waitFor();
    await page.getByText("1 could not be changed").first().waitFor();
    await page
      .getByText(/Cleo: it is in use/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Cleo" }).waitFor();
    expect(await page.getByRole("link", { name: "Ada" }).count()).toBe(0);
  });
});
