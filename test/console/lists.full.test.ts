import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();
const code = `export default { name: "Made", props: { http: "$.interface.http" }, run() {} };`;
const names = ["beech", "Ash", "cedar", "Birch"];

/** Names in the order of the list. */
const shown = async (page: Page): Promise<readonly string[]> =>
  (await page.getByRole("row").getByRole("link").allInnerTexts()).map((name) => name.trim());
const untilShown = async (page: Page, expected: readonly string[]): Promise<void> => {
  await until(async () => JSON.stringify(await shown(page)) === JSON.stringify(expected), `the list is ${expected.join(", ")}`);
};
const parameter = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);
const openViews = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: /^Views?(:|$)/ }).click();
  await page.getByRole("dialog", { name: "Saved views" }).waitFor();
};

describe.skipIf(chromiumPath === undefined)("lists", () => {
  beforeAll(async () => {
    for (const name of names) {
      const { id } = await world.api<{ id: string }>("POST", "/sources", { component_code: code, name });
      if (name === "cedar") await world.api("PUT", `/sources/${id}`, { active: false });
      await world.api("POST", "/webhooks", { url: `https://example.com/${name}`, name });
      const triggers = name === "Ash" ? [{ type: "http" }] : [];
      await world.api("POST", "/workflows", { name, steps: [], triggers });
    }
  });

  test("are sorted by their headers with the keyboard, and by a choice", async () => {
    const page = await world.open("/sources");
    await untilShown(page, names.toReversed());
    const header = page.getByRole("columnheader", { name: "Name" });
    expect(await header.getAttribute("aria-sort")).toBe("none");
    await header.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await untilShown(page, ["Ash", "beech", "Birch", "cedar"]);
    expect([await header.getAttribute("aria-sort"), parameter(page, "sort")]).toEqual(["ascending", "name"]);
    await expectAccessible(page);
    await page.keyboard.press("Space");
    await untilShown(page, ["cedar", "Birch", "beech", "Ash"]);
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    await page.getByLabel("Sort", { exact: true }).selectOption("Oldest first");
    await untilShown(page, names);
    await page.goto(`${world.url}/sources?sort=nonsense&state=nonsense`);
    await untilShown(page, names.toReversed());
  });

  test("are filtered by facets, and reset", async () => {
    const page = await world.open("/sources");
    await page.getByLabel("State").selectOption("Paused");
    await untilShown(page, ["cedar"]);
    await page.getByText("1 sources").waitFor();
    await page.getByLabel("Triggers").selectOption("Timer");
    await page.getByText("No source matches").waitFor();
    await page.getByRole("link", { name: "Reset" }).click();
    await page.getByLabel("Triggers").selectOption("HTTP");
    await untilShown(page, names.toReversed());
    await page.getByRole("link", { name: "Reset" }).click();
    await untilShown(page, names.toReversed());
    expect(new URL(page.url()).search).toBe("");
    await page.goto(`${world.url}/workflows?sort=name`);
    await page.getByLabel("Triggers").selectOption("HTTP");
    await untilShown(page, ["Ash"]);
    await page.getByLabel("State").selectOption("Inactive");
    await page.getByText("No workflow matches").waitFor();
    await page.getByRole("button", { name: "Show all workflows" }).click();
    await untilShown(page, ["Ash", "beech", "Birch", "cedar"]);
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.goto(`${world.url}/webhooks?q=EXAMPLE.com/B&sort=-name`);
    await untilShown(page, ["Birch", "beech"]);
    await page.getByLabel("State").selectOption("Failing");
    await page.getByText("No webhook matches").waitFor();
  });

  test("show the numbers of a chosen time, and compact rows, which the browser remembers", async () => {
    const page = await world.open("/sources?sort=name");
    await page.getByRole("columnheader", { name: "24 hours" }).waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await page.getByRole("columnheader", { name: "7 days" }).waitFor();
    await page.getByRole("img", { name: "0 in 7 days, 0 failed" }).first().waitFor();
    const heightOf = async (): Promise<number> => (await page.getByRole("row").nth(1).boundingBox())?.height ?? 0;
    const usual = await heightOf();
    await page.getByLabel("Compact rows").check();
    await until(async () => (await heightOf()) < usual - 8, "rows are lower");
    await page.reload();
    await untilShown(page, ["Ash", "beech", "Birch", "cedar"]);
    expect(await page.getByLabel("Compact rows").isChecked()).toBe(true);
    expect(await heightOf()).toBeLessThan(usual - 8);
    await expectFitsWidths(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectAccessible(page);
  });

  test("keep views, which are opened after a reload, renamed and deleted", async () => {
    const page = await world.open("/sources?q=eec&state=active&sort=-name");
    await untilShown(page, ["beech"]);
    await openViews(page);
    await page.getByLabel("Name of the view").fill(hostileText.slice(0, 60));
    await page.getByLabel("Name of the view").press("Enter");
    await page.getByRole("button", { name: /^View:/ }).waitFor();
    await openViews(page);
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Reset" }).click();
    await page.reload();
    await untilShown(page, names.toReversed());
    await openViews(page);
    await page.getByRole("button", { name: /^Rename/ }).click();
    await page.getByLabel("New name").fill("Trees");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("link", { name: "Trees" }).click();
    await untilShown(page, ["beech"]);
    expect(["q", "state", "sort"].map((name) => parameter(page, name))).toEqual(["eec", "active", "-name"]);
    await page.goBack();
    await untilShown(page, names.toReversed());
    await openViews(page);
    await page.getByRole("button", { name: "Delete Trees" }).click();
    await page.getByText("There is none yet.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("dialog", { name: "Saved views" }).waitFor({ state: "hidden" });
    await openViews(page);
    await page.getByRole("button", { name: "Delete Trees" }).click();
    await page.getByText("There is none yet.").waitFor();
    await page.reload();
    await openViews(page);
    await page.getByText("There is none yet.").waitFor();
    await page.getByText("Search, filter or sort the list first.").waitFor();
  });

  test("belong to their list, replace a view of the same name, and are at most 20", async () => {
    const page = await world.open("/webhooks?sort=name");
    const save = async (name: string, action: string): Promise<void> => {
      await openViews(page);
      await page.getByLabel("Name of the view").fill(name);
      await page.getByRole("button", { name: action, exact: true }).click();
      await page.getByRole("dialog", { name: "Saved views" }).waitFor({ state: "hidden" });
    };
    for (let n = 1; n <= 20; n++) await save(`View ${n}`, "Save");
    await openViews(page);
    await page.getByLabel("Name of the view").fill("One more");
    await page.getByText("There are 20 views, which is the maximum").waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByLabel("Sort", { exact: true }).selectOption("Oldest first");
    await save("View 3", "Replace");
    await page.getByRole("button", { name: "View: View 3" }).waitFor();
    await page.goto(`${world.url}/workflows`);
    await openViews(page);
    await page.getByText("There is none yet.").waitFor();
  });

  test.each([
    ["no JSON", "{[", 0],
    ["another type", `{"a":1}`, 0],
    [
      "other entries among views",
      `[1,null,{"name":5},{"name":"Fine","search":"sort=name&nonsense=1&org=o_x"},{"name":"x","search":""}]`,
      1,
    ],
    ["more than any views have", `["${"x".repeat(70_000)}"]`, 0],
  ])("are shown if the browser's storage holds %s", async (_, stored, count) => {
    const page = await world.open("/sources");
    await untilShown(page, names.toReversed());
    const { id } = await world.api<{ id: string }>("GET", "/users/me");
    await page.evaluate(([key, value]) => localStorage.setItem(key, value), [`headwater-views ${id} sources`, stored] as const);
    await page.reload();
    await openViews(page);
    const views = page.getByRole("dialog").getByRole("link");
    await until(async () => (await views.count()) === count, "the views that are right are listed");
    if (count === 0) return page.getByText("There is none yet.").waitFor();
    await views.first().click();
    await untilShown(page, ["Ash", "beech", "Birch", "cedar"]);
    expect(new URL(page.url()).search).toBe("?sort=name");
  });

  test("say that a view is not saved if the browser stores nothing", async () => {
    const page = await world.open("/sources?sort=name");
    await untilShown(page, ["Ash", "beech", "Birch", "cedar"]);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await openViews(page);
    await page.getByLabel("Name of the view").fill("Lost");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The views were not saved").first().waitFor();
  });
});
