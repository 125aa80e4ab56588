import { beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, openAsOperator, withConsole } from "./support/console.ts";

/** The pages of operators about the installation as a whole. */
const world = withConsole();
const code = `export default { name: "Audited", props: { http: "$.interface.http" }, run() { this.$emit({}); } };`;

interface Created {
  readonly id: string;
}
let source: Created;

const parametersOf = (page: Page): Readonly<Record<string, string>> => Object.fromEntries(new URL(page.url()).searchParams);
const changes = (page: Page) => page.getByRole("table", { name: "Changes" });

describe.skipIf(chromiumPath === undefined)("operations", () => {
  beforeAll(async () => {
    source = await world.api<Created>("POST", "/sources", { component_code: code, name: `Audited ${hostileText}` });
    await world.api("POST", "/webhooks", { url: "https://audited.test/", name: "Audited webhook" });
    await world.api("POST", `/sources/${source.id}/runs`, { event: {} });
  });

  test("filter the audit log by what the address has", async () => {
    const page = await openAsOperator(world, "/operations?tab=audit");
    const form = page.getByRole("form", { name: "Filters of the changes" });
    await form.getByLabel("Name contains").fill("audited");
    await form.getByLabel("Action").fill("create");
    await page.keyboard.press("Enter");
    await until(() => parametersOf(page)["name"] === "audited", "the filters are in the address");
    await changes(page).getByText("Audited webhook").waitFor();
    await changes(page).getByText("Audited <img").waitFor();
    await form.getByLabel("Kind").fill("Webhook");
    await form.getByLabel("Outcome").selectOption("ok");
    await form.getByRole("button", { name: "Filter", exact: true }).click();
    await changes(page).getByText("Audited <img").waitFor({ state: "detached" });
    expect(parametersOf(page)).toEqual({ tab: "audit", name: "audited", action: "create", kind: "Webhook", outcome: "ok" });
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.goBack();
    await changes(page).getByText("Audited <img").waitFor();
    expect(await form.getByLabel("Kind").inputValue()).toBe("");
    await form.getByLabel("To").fill("2020-01-31T12:00");
    await page.keyboard.press("Enter");
    await page.getByText("No change matches the filters").waitFor();
    expect(await form.getByLabel("To").inputValue()).toBe("2020-01-31T12:00");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Clear the filters" }).first().click();
    await until(() => Object.keys(parametersOf(page)).join() === "tab", "the address has no filter");
  });

  test("opens the filters of a link, and says which one is wrong", async () => {
    const page = await openAsOperator(world, "/operations?tab=audit&kind=Source&owner_id=u_none");
    await page.getByText("No change matches the filters").waitFor();
    expect(await page.getByLabel("Owner").inputValue()).toBe("u_none");
    const wrong = await openAsOperator(world, "/operations?tab=audit&since=yesterday");
    await wrong.getByRole("alert").getByText("it must be a time in epoch milliseconds").waitFor();
    await expectAccessible(wrong);
  });

  test("the own changes of a user have the same filters", async () => {
    const page = await world.open("/organization?kind=Source&name=audited");
    await changes(page).getByText("Audited <img").waitFor();
    await expect.poll(() => changes(page).getByText("Audited webhook").count()).toBe(0);
    expect(await page.getByLabel("Owner").count()).toBe(0);
  });

  test("a problem leads to its runbook", async () => {
    const page = await openAsOperator(world, "/operations?tab=storage");
    await page.route("**/admin/v1/status", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly data: object };
      const problems = [{ code: "stream_full", message: `the stream RUNS ${hostileText}`, runbook: "HeadwaterStreamFull" }];
      await route.fulfill({ response, json: { ...body, data: { ...body.data, problems } } });
    });
    await page.getByRole("link", { name: "State" }).click();
    await page.getByText("the stream RUNS").waitFor();
    await page.getByText("Oldest invocation that has not ended").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("link", { name: "Runbook: HeadwaterStreamFull" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "HeadwaterStreamFull" }).waitFor();
    await page.getByText("Repair the role that reads the stream.").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    const unknown = await openAsOperator(world, "/operations?tab=runbooks&runbook=NoSuchRunbook");
    await unknown.getByText("There is no runbook NoSuchRunbook").waitFor();
  });

  test("show how full the database and the streams are, and the error if that cannot be read", async () => {
    const page = await openAsOperator(world, "/operations?tab=storage");
    const table = page.getByRole("table", { name: "Storage" });
    await table.getByRole("row", { name: /^Database .+ \(\d+ %\) unknown yet/ }).waitFor();
    await table.getByRole("row", { name: /^RUNS .+ \(\d+ %\)/ }).waitFor();
    await table.getByRole("row", { name: /^KV_ROUTES .+ no limit/ }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    const failing = await openAsOperator(world, "/operations");
    await failing.route("**/admin/v1/storage", (route) => route.fulfill({ status: 503, json: { error: "Postgres is unavailable" } }));
    await failing.getByRole("link", { name: "Storage" }).click();
    await failing.getByRole("alert").getByText("Postgres is unavailable").waitFor();
    await failing.unroute("**/admin/v1/storage");
    await failing.getByRole("alert").getByRole("button").click();
    await failing.getByRole("table", { name: "Storage" }).waitFor();
  });

  test("show the rates of all owners now and as curves", async () => {
    const page = await openAsOperator(world, "/operations?tab=rates&range=1h");
    await page.getByText("Runs a minute", { exact: true }).waitFor();
    const chart = page.getByRole("figure", { name: "Runs", exact: true });
    await chart.locator("canvas").waitFor();
    await chart.getByText("Show as a table").click();
    await chart.getByRole("row", { name: /^Whole range/ }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });
});
