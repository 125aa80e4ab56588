import { describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withOwnConsole } from "./support/console.ts";

/** Only a terminal gets the link that signs in. */
const world = withOwnConsole();

describe.skipIf(chromiumPath === undefined)("signing in", () => {
  test("reports a wrong key, and stays", async () => {
    const page = await world.open("/", { isSignedOut: true });
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("the API key is unknown or was revoked").waitFor();
    await expectAccessible(page);
  });

  test("uses the link that the start prints, once, and removes it from the address", async () => {
    const link = /Console, once within 15 minutes: (\S+)/.exec(world.user.output())?.[1] ?? "";
    const path = link.slice(new URL(link).origin.length);
    const page = await world.open(path, { isSignedOut: true });
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(page.url()).not.toContain("link=");
    const again = await world.open(path, { isSignedOut: true });
    await again.getByText("the link was used before or has expired").waitFor();
  });

  test("ends with signing out, in every tab", async () => {
    const page = await world.open("/");
    const other = await page.context().newPage();
    await other.goto(`${world.url}/sources`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await other.reload();
    await other.getByLabel("API key").waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)("the shell", () => {
  test("is accessible and fits all widths", async () => {
    const page = await world.open("/");
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("goes to a page by the palette", async () => {
    const page = await world.open("/");
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, or the name of a source" }).fill("accou");
    await page.getByRole("option", { name: "Accounts" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
  });

  test("shows the shortcuts, and closes them with Escape", async () => {
    const page = await world.open("/");
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("remembers the theme", async () => {
    const page = await world.open("/");
    await page.getByLabel("Theme").selectOption("dark");
    await page.reload();
    await page.getByLabel("Theme").waitFor();
    await page.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
  });

  test("says that an address shows nothing", async () => {
    for (const path of ["/sources/new/nothing", "/nothing", "/nothing/at/all", "/dashboard"]) {
      const page = await world.open(path);
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
      await page.getByRole("link", { name: "Go to Home" }).click();
      await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    }
  });
});

describe.skipIf(chromiumPath === undefined)("after the server restarts", () => {
  test("the tail of a source continues without a gap", async () => {
    const code = `export default { name: "Continued", props: { http: "$.interface.http" }, async run(event) { this.$emit(event.body, { summary: event.body.summary }); } };`;
    const { id, configured_props: props } = await world.api<{ id: string; configured_props: { http: { endpoint_url: string } } }>(
      "POST",
      "/sources",
      { component_code: code },
    );
    const emit = async (summary: string): Promise<void> => {
      const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ summary }) };
      expect((await fetch(props.http.endpoint_url, request)).status).toBe(200);
    };
    const page = await world.open(`/sources/${id}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await emit("before the restart");
    await page.getByRole("button", { name: "before the restart" }).waitFor();
    await world.restart();
    await emit("after the restart");
    await page.getByRole("button", { name: "after the restart" }).waitFor();
  });
});
