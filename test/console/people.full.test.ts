import { describe, test } from "vitest";
import { chromiumPath } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

const world = withConsole();

describe.skipIf(chromiumPath === undefined)("the profile", () => {
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
  test("with an address that is not confirmed has a link mailed there", async () => {
    const made = await fetch(`${world.user.apiUrl}/orgs`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.user.key}`, "content-type": "application/json" },
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
