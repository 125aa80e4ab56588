import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRegistry, type FakePackage } from "../integration/builder/registry.ts";
import { fixturePackage } from "../support/npm-fixtures.ts";
import { registered } from "../support/oauth-provider.ts";
import { OfficeServices } from "../support/office-services.ts";
import { chromiumPath } from "./support/browser.ts";
import { withOwnConsole } from "./support/console.ts";

/** Its pictures are those of docs/first-workflow.md: with HEADWATER_PICTURES=1, the test writes them. */
const pictures = join(import.meta.dirname, "..", "..", "docs", "images");

/** From an empty installation to a workflow that adds a row to a sheet for each message of a chat. */
describe.skipIf(chromiumPath === undefined)("the first workflow", () => {
  const closing: (() => Promise<void>)[] = [];
  const office = new OfficeServices();

  /** A connector whose service is the double. */
  async function connector(name: string): Promise<FakePackage> {
    const found = await fixturePackage(`piece-${name}`);
    const index = String(found.files["index.js"]).replace(`https://${name}.acme.example`, office.origin);
    return { ...found, files: { ...found.files, "index.js": index } };
  }
  const world = withOwnConsole(async () => {
    await office.start();
    const packages = [await connector("chat"), await connector("sheets")];
    return { npm_config_registry: (await startRegistry(packages, undefined, (close) => void closing.push(close))).npm.registry };
  });
  beforeAll(async () => {
    for (const [slug, scope] of [
      ["chat", "messages:read"],
      ["sheets", "rows:write"],
    ] as const) {
      const name = `Acme ${slug.charAt(0).toUpperCase()}${slug.slice(1)}`;
      const oauth = {
        authorization_url: `${office.origin}/authorize/${slug}`,
        token_url: `${office.provider.origin}/token`,
        test_url: `${office.provider.origin}/me`,
        test_name: "user.name",
        scopes: [scope],
      };
      await world.api("POST", "/apps", { name_slug: slug, name, auth_type: "oauth", oauth });
      const client = { app: slug, client_id: registered.clientId, client_secret: registered.clientSecret };
      office.redirectUri = (await world.api<{ redirect_uri: string }>("POST", "/oauth_clients", client)).redirect_uri;
    }
    office.say("Ada", "Two chairs for the meeting room, please");
    office.say("Grace", "The projector needs a new lamp");
  });
  afterAll(async () => {
    await office.stop();
    for (const close of closing) await close();
  });

  async function picture(page: Page, name: string, height = 800): Promise<void> {
    if (process.env["HEADWATER_PICTURES"] === undefined) return;
    await page.evaluate(`document.querySelectorAll('[aria-label="Dismiss"]').forEach((button) => button.click())`);
    await expect.poll(() => page.locator('[aria-label="Dismiss"]').count()).toBe(0);
    await page.evaluate("document.fonts.ready");
    const size = page.viewportSize() ?? { width: 1_280, height: 800 };
    await page.setViewportSize({ width: 1_280, height });
    await writeFile(join(pictures, `first-${name}.png`), await page.screenshot({ animations: "disabled" }));
    await page.setViewportSize(size);
  }

  /** Signs in at the service in the tab that the console opens. */
  async function connect(page: Page, app: string, pictured?: string): Promise<void> {
    await page.getByRole("button", { name: "Connect an account" }).click();
    const dialog = page.getByRole("dialog", { name: `Connect ${app}` });
    const [tab] = await Promise.all([page.context().waitForEvent("page"), dialog.getByRole("button", { name: `Connect ${app}` }).click()]);
    await tab.getByRole("link", { name: "Allow" }).waitFor();
    if (pictured !== undefined) await picture(tab, pictured, 260);
    await tab.getByRole("link", { name: "Allow" }).click();
    await tab.getByRole("heading", { name: `${app} is connected` }).waitFor();
    await tab.close();
    await dialog.waitFor({ state: "detached" });
  }

  test("connects two accounts, tests the source, deploys it, and writes each message into a row", async () => {
    const page = await world.open("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await picture(page, "empty", 420);

    await page.goto(`${world.url}/sources/new`);
    await page.getByLabel("Search apps and triggers").fill("npm:@acme/piece-chat");
    await page.getByRole("button", { name: "Open npm:@acme/piece-chat" }).click();
    await page.getByRole("button", { name: "Choose: New Message" }).waitFor();
    await picture(page, "trigger", 420);
    await page.getByRole("button", { name: "Choose: New Message" }).click();
    await page.getByRole("heading", { name: "New Message" }).waitFor();
    await connect(page, "Acme Chat", "sign-in");
    await page.getByRole("button", { name: "Load choices" }).click();
    await page.locator("select", { has: page.locator("option", { hasText: "requests" }) }).selectOption({ label: "requests" });
    await page.getByRole("button", { name: "Test", exact: true }).click();
    const result = page.getByRole("region", { name: "Result of the test" });
    await result.getByText("The projector needs a new lamp").waitFor();
    await result.scrollIntoViewIfNeeded();
    await picture(page, "test");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: /new.?message/i }).waitFor();
    const [source] = await world.api<{ id: string }[]>("GET", "/users/me/sources");

    const { id } = await world.api<{ id: string }>("POST", "/workflows", {
      name: "Requests to sheet",
      triggers: [{ type: "source", source_id: source?.id }],
      steps: [],
    });
    const flow = await world.open(`/workflows/${id}`);
    await flow.getByRole("button", { name: "Add a step" }).click();
    const dialog = flow.getByRole("dialog", { name: "Add a step" });
    await dialog.getByLabel("Search apps and actions").fill("npm:@acme/piece-sheets");
    await dialog.getByRole("button", { name: "Open npm:@acme/piece-sheets" }).click();
    await dialog.getByRole("button", { name: "Choose: Add Row" }).waitFor();
    await picture(flow, "step");
    await dialog.getByRole("button", { name: "Choose: Add Row" }).click();
    await dialog.waitFor({ state: "detached" });
    await connect(flow, "Acme Sheets");
    await flow
      .getByLabel(/^Sheet/)
      .last()
      .fill("Requests");
    await flow.getByRole("textbox", { name: /^Name/ }).last().fill("{{ steps.trigger.event.name }}");
    await flow.getByRole("textbox", { name: /^Text/ }).last().fill("{{ steps.trigger.event.text }}");
    await picture(flow, "props");
    await flow.getByRole("button", { name: "Deploy the steps" }).click();
    await flow.getByText("The steps were deployed").waitFor();

    office.say("Linus", "Please renew the license of the editor");
    await world.api("POST", `/sources/${source?.id}/runs`, {});
    await expect
      .poll(() => office.rows, { timeout: 150_000 })
      .toEqual([{ sheet: "Requests", name: "Linus", text: "Please renew the license of the editor" }]);
    const runs = () => world.api<{ id: string; status: string }[]>("GET", `/workflows/${id}/runs`);
    await expect.poll(runs, { timeout: 150_000 }).toMatchObject([{ status: "succeeded" }]);
    await flow.goto(`${world.url}/traces/${(await runs())[0]?.id}`);
    await flow
      .getByRole("region", { name: "Inspector" })
      .getByText(/renew the license/)
      .first()
      .waitFor();
    await picture(flow, "run");
    await flow.goto(`${office.origin}/sheet`);
    await flow.getByRole("cell", { name: "Linus" }).waitFor();
    await picture(flow, "sheet", 260);
  });
});
