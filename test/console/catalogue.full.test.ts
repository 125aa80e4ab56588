import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRegistry } from "../integration/builder/registry.ts";
import { startLedger, type LedgerService } from "../support/ledger-service.ts";
import { fixturePackage } from "../support/npm-fixtures.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withOwnConsole } from "./support/console.ts";

const address = "npm:@acme/piece-ledger";

/** From the search of an app to a source and a step of it, with an account that is connected in place. */
describe.skipIf(chromiumPath === undefined)("the catalogue", () => {
  const closing: (() => Promise<void>)[] = [];
  const startPackages = async () => startRegistry([await fixturePackage("piece-ledger")], undefined, (close) => void closing.push(close));
  const world = withOwnConsole(async () => ({
    npm_config_registry: (await startPackages()).npm.registry,
  }));
  let ledger: LedgerService;
  beforeAll(async () => {
    ledger = await startLedger();
    const fields = [{ name: "oauth_access_token", label: "Token", secret: true }];
    await world.api("POST", "/apps", { name_slug: "ledger", name: "The Ledger", auth_type: "keys", custom_fields: fields });
    await world.api("POST", "/components", {
      component_code: `export default { type: "action", name: "Own Action", version: "0.0.1", props: { word: { type: "string" } }, run() { return this.word; } };`,
    });
  });
  afterAll(async () => {
    await ledger?.stop();
    for (const close of closing) await close();
  });

  async function connectInPlace(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "Connect an account" }).click();
    const dialog = page.getByRole("dialog", { name: "Connect The Ledger" });
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByLabel(/^Token/).fill(ledger.token);
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => page.getByLabel(/^Ledger/).inputValue()).toMatch(/^apn_/);
  }

  test("finds triggers of apps by name and words, and the registry, without the network", async () => {
    const page = await world.open("/sources/new");
    await page.getByLabel("Search apps and triggers").fill("slack reaction");
    await page.getByRole("button", { name: "Choose: Slack New Reaction" }).waitFor();
    await page.getByRole("button", { name: "Open: Slack" }).waitFor();
    expect(await page.getByRole("button", { name: /^Choose: Slack Add Reaction/ }).count()).toBe(0);
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByLabel("Search apps and triggers").fill("heartbeat");
    await page
      .getByRole("region", { name: "Templates" })
      .getByRole("button", { name: /^Choose: .*[Hh]eartbeat/ })
      .waitFor();
    await page.getByLabel("Search apps and triggers").fill("nothing has these words");
    await page.getByText("Nothing in the catalogue matches").waitFor();
    await expectAccessible(page);
  });

  test("leads from a package to a source that runs, with an account that is connected in place", async () => {
    await ledger.add({ book: "office", direction: "in", amount: 5 });
    const page = await world.open("/sources/new");
    await page.getByLabel("Search apps and triggers").fill(address);
    await page.getByRole("button", { name: `Open ${address}` }).click();
    await page.getByRole("button", { name: "Choose: New Entry" }).click();
    await page.getByRole("heading", { name: "New Entry" }).waitFor();
    await expectAccessible(page);
    await connectInPlace(page, "Books");
    await page.getByLabel(/^Server/).fill(ledger.origin);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    const result = page.getByRole("region", { name: "Result of the test" });
    await result.getByText("new", { exact: true }).first().waitFor();
    await result.getByText("office").waitFor();
    await expectAccessible(page);
    expect(await world.api("GET", "/users/me/sources")).toEqual([]);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: /new.?entry/i }).waitFor();
    expect(ledger.refusals).toEqual([]);
  });

  test("leads from Add a step to an action with live options, which a test calls and a deployment keeps", async () => {
    const { id } = await world.api<{ id: string }>("POST", "/workflows", { name: "Bookkeeping", triggers: [{ type: "http" }], steps: [] });
    const page = await world.open(`/workflows/${id}`);
    await page.getByRole("button", { name: "Add a step" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a step" });
    await dialog.getByRole("button", { name: "Write code" }).waitFor();
    await dialog.getByRole("button", { name: "Choose: Own Action" }).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Search apps and actions").fill(address);
    await dialog.getByRole("button", { name: `Open ${address}` }).click();
    await dialog.getByRole("button", { name: "Choose: Add Entry" }).click();
    await dialog.waitFor({ state: "detached" });
    await connectInPlace(page, "Books for steps");
    await page.getByLabel(/^Server/).fill(ledger.origin);
    await page.getByRole("button", { name: "Load choices" }).click();
    await page.locator("select", { has: page.locator("option", { hasText: "Office" }) }).selectOption({ label: "Office" });
    await page.getByLabel(/^Direction/).selectOption({ label: "In" });
    await page.getByLabel(/^Amount/).fill("42");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Test the steps" }).click();
    await page.getByRole("region", { name: "Result of the test" }).getByText("office").first().waitFor();
    expect(ledger.entries.at(-1)).toMatchObject({ book: "office", direction: "in", amount: 42 });
    await page.getByRole("button", { name: "Deploy the steps" }).click();
    await page.getByText("The steps were deployed").waitFor();
    const deployed = await world.api<{ steps: { props: Record<string, unknown> }[] }>("GET", `/workflows/${id}`);
    expect(deployed.steps[0]?.props).toMatchObject({ book: "office", direction: "in" });
    expect(ledger.refusals).toEqual([]);
  });
});
