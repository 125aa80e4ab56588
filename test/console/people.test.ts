import { describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

describe.skipIf(chromiumPath === undefined)("accounts", () => {
  test("are created, changed and deleted; their credentials are never shown", async () => {
    const page = await world.open("/accounts");
    await page.getByText("You have no accounts yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^App/).fill("example_app");
    await dialog.getByLabel("Name").fill(hostileText);
    await dialog.getByLabel("Credentials").fill("no-equals-sign");
    await dialog.getByText("Each line must be name=value").waitFor();
    await dialog.getByLabel("Credentials").fill("token=a-secret-of-the-account=");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The account was created").waitFor();
    await page.getByRole("button", { name: /^<img/ }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Renamed");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Renamed" }).waitFor();
    expect(await page.content()).not.toContain("a-secret-of-the-account");
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByLabel("Type Renamed to confirm").fill("Renamed");
    await page.keyboard.press("Enter");
    await page.getByText("You have no accounts yet").waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)("the profile", () => {
  test("creates a key that is shown once and works, and revokes it", async () => {
    const page = await world.open("/profile");
    // What loads above the button moves it.
    await page.getByRole("region", { name: "Usage today" }).getByRole("term").first().waitFor();
    await page.getByRole("button", { name: "Revoke" }).first().waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Name/).fill("for a script");
    await dialog.getByLabel("Rights").selectOption("read");
    await dialog.getByLabel("Valid for").selectOption("30");
    await dialog.getByRole("button", { name: "Create" }).click();
    const key = (await dialog.getByText(/^hw_/).textContent()) ?? "";
    const ask = () => fetch(`${world.headwater.apiUrl}/users/me`, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask()).status).toBe(200);
    await page.keyboard.press("Escape");
    const row = page.getByRole("listitem").filter({ hasText: "for a script" });
    await row.getByText("Read", { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByLabel("Type for a script to confirm").fill("for a script");
    await page.keyboard.press("Enter");
    await page.getByText("for a script was revoked").first().waitFor();
    await row.waitFor({ state: "detached" });
    expect((await ask()).status).toBe(401);
  });

  test("turns mails about errors off and on", async () => {
    const page = await world.open("/profile");
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByText("Errors are no longer mailed to you").waitFor();
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText("Errors are mailed to you").waitFor();
  });

  test("signs out when the key of its session is revoked", async () => {
    const { key, id } = await world.api<{ readonly key: string; readonly id: string }>("POST", "/users/me/keys", { name: "of a session" });
    const page = await world.open("/profile", { isSignedOut: true });
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Profile", level: 1 }).waitFor();
    await world.api("DELETE", `/users/me/keys/${id}`);
    // A request in the background may sign out before the click: then there is no link any more.
    const apiKey = page.getByLabel("API key");
    await page.getByRole("link", { name: "Sources" }).or(apiKey).first().click();
    await apiKey.waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)("an organization", () => {
  test("is created, shows its resources by the address, and its changes", async () => {
    const page = await world.open("/organization");
    await page.getByText("You are not a member of an organization").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New organization" }).click();
    await page.getByRole("dialog").getByLabel("Name (required)").fill("Acme & <b>Sons</b>");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Acme & <b>Sons</b>", level: 1 }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "local" }).waitFor();
    await page.getByLabel(/^Username, e-mail/).fill("no-user-has-this-name");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByText("If there is a user no-user-has-this-name, they see the invitation").waitFor();
    await page.getByRole("button", { name: "Withdraw: no-user-has-this-name" }).click();
    await page.getByRole("button", { name: "Withdraw: no-user-has-this-name" }).waitFor({ state: "detached" });
    await expectAccessible(page);
    await expectFitsWidths(page);
    const org = new URL(page.url()).searchParams.get("org");
    await page.getByRole("link", { name: "Sources" }).click();
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("org")).toBe(org);
  });

  test("with an address that is not confirmed has a link mailed there", async () => {
    const made = await fetch(`${world.headwater.apiUrl}/orgs`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.headwater.key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "Elsewhere", email: "elsewhere@example.com" }),
    });
    const { id } = ((await made.json()) as { readonly data: { readonly id: string } }).data; // The API documents the form.
    const page = await world.open(`/organization?org=${id}`);
    await page.getByText("No mails go to this address until it is confirmed").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Mail a link: elsewhere@example.com" }).click();
    await page.getByText("A link is mailed to elsewhere@example.com").first().waitFor();
  });
});
