import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, openAsOperator, withConsole } from "./support/console.ts";

/** One story for each page; the `*.full.test.ts` of a page have the others. */
const world = withConsole();

interface Created {
  readonly id: string;
}

const component = (body: string): string =>
  `export default { name: "Made", props: { http: "$.interface.http" }, async run(event) { ${body} } };`;

let receiver: Receiver;

describe.skipIf(chromiumPath === undefined)("pages", () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    return () => receiver.close();
  });

  test("Webhooks are created, with a signing key that is shown once", async () => {
    const page = await world.open("/webhooks");
    await page.getByText("You have no webhooks yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Address/).fill("ftp://example.com/hook");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("The webhook was not created").waitFor();
    await dialog.getByLabel(/^Address/).fill(receiver.url);
    await dialog.getByLabel("Name").fill(hostileText);
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole("link", { name: "Open the webhook" }).click();
    await page.getByRole("heading", { level: 1, name: "<img" }).waitFor();
    await page.getByText("No attempts").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("Subscriptions are added, shown in the graph and the list, and removed by an edge once that is confirmed", async () => {
    const source = await world.api<Created>("POST", "/sources", { component_code: component("this.$emit(1)"), name: "Feeding" });
    const webhook = await world.api<{ readonly id: string }>("POST", "/webhooks", { url: receiver.url, name: "Fed" });
    const page = await world.open("/subscriptions");
    await page.getByLabel(/^Source or workflow that emits/).fill(source.id);
    await page.getByLabel(/^Webhook, source or workflow/).fill(webhook.id);
    await page.getByRole("button", { name: "Subscribe" }).click();
    const graph = page.getByRole("group", { name: "Graph of subscriptions" });
    await graph.getByText("Feeding").waitFor();
    await graph.getByText("Fed").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "List" }).click();
    await page.getByRole("button", { name: "Remove Feeding to Fed" }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("link", { name: "Graph" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove this subscription?" });
    await page.getByLabel("Remove Feeding to Fed").click({ force: true });
    await dialog.getByText("Feeding → Fed").waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Keep it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await world.api<readonly unknown[]>("GET", "/users/me/subscriptions")).toHaveLength(1);
    await page.getByLabel("Remove Feeding to Fed").click({ force: true });
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("The subscription was removed").waitFor();
    await page.getByText("There are no subscriptions yet").waitFor();
  });

  test("Sources are listed with their state, searched and filtered in the address", async () => {
    await world.api("POST", "/sources", { component_code: component("throw new Error('never')"), name: "Broken" });
    await world.api("POST", "/sources", { component_code: component("this.$emit(1)"), name: hostileText + "y".repeat(150), active: false });
    const page = await world.open("/sources");
    await page.getByRole("link", { name: "Broken" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("brok");
    await page.getByRole("link", { name: /^<img/ }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe("brok");
    await page.getByLabel("Search by name").fill("");
    await page.waitForURL(({ searchParams }) => !searchParams.has("q"));
    await page.getByLabel("State", { exact: true }).selectOption("paused");
    await page.getByRole("link", { name: "Broken" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("link", { name: /^<img/ }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("Workflows are created, and their first run is shown step by step", async () => {
    const page = await world.open("/workflows");
    await page.getByText("You have no workflows yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New workflow" }).click();
    await page.getByRole("dialog").getByLabel(/^Name/).fill(hostileText);
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { level: 1, name: "<img" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("dialog").getByLabel("Event").fill('{"answer": 42}');
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByText("Succeeded", { exact: true }).waitFor();
    await page.getByRole("row", { name: /Step first/ }).click();
    await inspector.getByText("got an event").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("Accounts are created, changed and deleted; their credentials are never shown", async () => {
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

  test("the profile creates a key that is shown once and works, and revokes it", async () => {
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
    const ask = () => fetch(`${world.user.apiUrl}/users/me`, { headers: { authorization: `Bearer ${key}` } });
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

  test("an organization is created, shows its resources by the address, and its changes", async () => {
    const page = await world.open("/organization");
    await page.getByText("You are not a member of an organization").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New organization" }).click();
    await page.getByRole("dialog").getByLabel("Name (required)").fill("Acme & <b>Sons</b>");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Acme & <b>Sons</b>", level: 1 }).waitFor();
    await page.getByRole("listitem").filter({ hasText: world.user.username }).waitFor();
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

  test("Operations shows the state of the installation, and of one pool by the address", async () => {
    const page = await openAsOperator(world, "/operations?pool=default");
    await page.getByText("Pool default").waitFor();
    await page.getByRole("cell", { name: "INVOCATIONS" }).waitFor();
    await page.getByRole("table", { name: "Delivery replicas" }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    const other = await openAsOperator(world, "/operations?pool=none-of-this-name");
    await other.getByText("No runner of this pool is alive").waitFor();
  });

  test("Admin creates an organization", async () => {
    const page = await openAsOperator(world, "/admin?tab=organizations");
    await page.getByLabel(/^Name/).fill("Globex");
    await page.getByLabel(/^Username/).fill("globex");
    await page.getByLabel(/^E-mail/).fill("globex@example.com");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("listitem").filter({ hasText: "Globex" }).waitFor();
    await expectAccessible(page);
  });
});
