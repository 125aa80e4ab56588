import { beforeAll, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { startReceiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

/** Curves over time, read in the tables beside them. */
const world = withConsole();
const code = `export default { name: "Counted", props: { http: "$.interface.http" }, run(event) { if (event?.body?.fails) throw new Error("out of stock"); this.$emit({}); } };`;

interface Created {
  readonly id: string;
}
interface Total {
  readonly total: { readonly runs: number; readonly attempts: number; readonly p95_ms: number };
}

let source: Created;
let webhook: Created;

const rowsOf = async (scope: Page | Locator, title: string): Promise<readonly (readonly string[])[]> => {
  const chart = scope.getByRole("figure", { name: title, exact: true });
  await chart.getByText("Show as a table").click();
  const table = chart.getByRole("table");
  await table.waitFor();
  return (await table.getByRole("row").allInnerTexts()).map((row) => row.split("\t"));
};

describe.skipIf(chromiumPath === undefined)("metrics", () => {
  beforeAll(async () => {
    const receiver = await startReceiver();
    source = await world.api<Created>("POST", "/sources", { component_code: code, name: "Counted" });
    webhook = await world.api<Created>("POST", "/webhooks", { url: receiver.url, name: "Informed" });
    await world.api("POST", `/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`);
    for (const fails of [false, false, true]) await world.api("POST", `/sources/${source.id}/runs`, { event: { body: { fails } } });
    await until(async () => (await world.api<Total>("GET", `/sources/${source.id}/metrics`)).total.runs === 3, "its runs are counted");
    await until(
      async () => (await world.api<Total>("GET", `/webhooks/${webhook.id}/metrics`)).total.attempts === 2,
      "deliveries are counted",
    );
    return () => receiver.close();
  });

  test("of a source are curves of a chosen range, with the same numbers in a table", async () => {
    const page = await world.open(`/sources/${source.id}?tab=metrics`);
    await page.getByRole("figure", { name: "Runs", exact: true }).locator("canvas").waitFor();
    await page.getByRole("button", { name: "1 hour" }).click();
    await until(() => new URL(page.url()).searchParams.get("range") === "1h");
    const [head, total, ...points] = await rowsOf(page, "Runs");
    expect([head, total]).toEqual([
      ["From", "Runs", "Failed"],
      ["Whole range", "3", "1"],
    ]);
    expect(points.length).toBeGreaterThanOrEqual(61);
    const sum = (column: number): number => points.reduce((all, cells) => all + Number(cells[column]), 0);
    expect([sum(1), sum(2)]).toEqual([3, 1]);
    expect((await rowsOf(page, "Success rate"))[1]).toEqual(["Whole range", "66.7 %"]);
    expect((await rowsOf(page, "Duration"))[1]).toEqual([
      "Whole range",
      expect.stringMatching(/^\d.* m?s$/),
      expect.stringMatching(/^\d.* m?s$/),
    ]);
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("are read point by point with the keyboard", async () => {
    const page = await world.open(`/sources/${source.id}?tab=metrics&range=1h`);
    const slider = page.getByRole("slider", { name: "Runs: choose a time with the arrow keys" });
    await page.getByRole("figure", { name: "Runs", exact: true }).locator("canvas").waitFor();
    expect(await slider.getAttribute("aria-valuetext")).toBe("Whole range, Runs 3, Failed 1");
    await slider.focus();
    await page.keyboard.press("Home");
    expect(await slider.getAttribute("aria-valuenow")).toBe("0");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/, Runs 0, Failed 0$/);
    await page.keyboard.press("ArrowRight");
    expect(await slider.getAttribute("aria-valuenow")).toBe("1");
    await page.keyboard.press("Escape");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^Whole range/);
  });

  test("of a webhook are those of its attempts", async () => {
    const page = await world.open(`/webhooks/${webhook.id}?tab=metrics`);
    expect((await rowsOf(page, "Attempts at deliveries"))[1]).toEqual(["Whole range", "2", "0", "0"]);
    await expectAccessible(page);
  });

  test("of all that the owner has are on Home, above what fails, with a way to its cause", async () => {
    const page = await world.open("/");
    const day = page.getByRole("region", { name: "The last 24 hours" });
    await day.locator("canvas").first().waitFor();
    expect((await rowsOf(day, "Runs"))[1]).toEqual(["Whole range", "3", "1"]);
    expect((await rowsOf(day, "Attempts at deliveries"))[1]?.[1]).toBe("2");
    const attention = page.getByRole("region", { name: "Needs attention" });
    await attention.getByText("out of stock").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await attention.getByRole("link", { name: "See errors of Counted" }).click();
    await until(() => new URL(page.url()).search === "?tab=errors");
  });

  test("of the last day are in the list of sources", async () => {
    const page = await world.open("/sources");
    await page.getByRole("img", { name: "3 in 24 hours, 1 failed" }).waitFor();
    await page.getByRole("cell", { name: "33.3 %" }).waitFor();
    await expectAccessible(page);
    await page.goto(new URL("/webhooks", page.url()).href);
    await page.getByRole("img", { name: "2 in 24 hours, 0 failed" }).waitFor();
  });
});
