import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCertifiedProvider, type CertifiedProvider } from "../support/certified-provider.ts";
import { OauthProvider, registered } from "../support/oauth-provider.ts";
import { chromiumPath } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

/** Accounts are connected by a person in a browser, at a provider of another project. */
describe.skipIf(chromiumPath === undefined)("connecting accounts in the console", () => {
  const world = withConsole();
  let provider: CertifiedProvider;

  beforeAll(async () => {
    provider = await startCertifiedProvider();
    const { issuer, client } = provider;
    await world.api("POST", "/apps", {
      name_slug: "acme",
      name: "Acme",
      auth_type: "oauth",
      oauth: {
        authorization_url: `${issuer}/auth`,
        token_url: `${issuer}/token`,
        revocation_url: `${issuer}/token/revocation`,
        issuer,
        scopes: ["openid", "offline_access"],
        authorization_params: { prompt: "consent" },
        test_url: `${issuer}/me`,
        test_name: "sub",
      },
    });
    const { redirect_uri: redirectUri } = await world.api<{ redirect_uri: string }>("POST", "/oauth_clients", { app: "acme", ...client });
    provider.serve(redirectUri);
  });
  afterAll(() => provider?.stop());

  /** The tab of the service, which a click opens. */
  async function tabOf(page: Page, click: () => Promise<void>): Promise<Page> {
    const [tab] = await Promise.all([page.context().waitForEvent("page"), click()]);
    tab.setDefaultTimeout(150_000);
    return tab;
  }

  async function signIn(tab: Page): Promise<void> {
    await tab.getByPlaceholder("Enter any login").fill("ada-at-acme");
    await tab.getByPlaceholder("and password").fill("any");
    await tab.getByRole("button", { name: "Sign-in" }).click();
  }
  const consent = (tab: Page): Promise<void> => tab.getByRole("button", { name: "Continue" }).click();

  async function begin(page: Page): Promise<Page> {
    await page.getByRole("button", { name: "Connect an account" }).click();
    const dialog = page.getByRole("dialog", { name: "Connect an account" });
    await dialog.getByLabel("Search apps").fill("acme");
    await expectAccessible(page);
    return tabOf(page, () => dialog.getByRole("button", { name: "Connect Acme" }).click());
  }

  test("an account of a client is connected with its id and secret, and again when the service no longer knows the secret", async () => {
    const depot = await new OauthProvider().start();
    try {
      depot.quirks = { clientScopes: ["read"], expiresIn: 5 };
      const oauth = { grant: "client_credentials", token_url: `${depot.origin}/token`, scopes: ["read"] };
      await world.api("POST", "/apps", { name_slug: "depot", name: "Depot", auth_type: "oauth", oauth });
      const page = await world.open("/accounts");
      await page.getByRole("button", { name: "Connect an account" }).click();
      const dialog = page.getByRole("dialog", { name: "Connect an account" });
      await dialog.getByLabel("Search apps").fill("depot");
      await dialog.getByRole("button", { name: "Connect Depot" }).click();
      await dialog.getByLabel("Name").fill("Stock");
      await dialog.getByLabel("Client id").fill(registered.clientId);
      await dialog.getByLabel("Client secret").fill("wrong");
      await expectAccessible(page);
      await dialog.getByRole("button", { name: "Connect Depot" }).click();
      const row = page.getByRole("row", { name: /Stock/ });
      await row.getByText("needs reconnect").waitFor();
      await row.getByRole("button", { name: "Reconnect" }).click();
      const again = page.getByRole("dialog", { name: "Reconnect: Stock" });
      await again.getByLabel("Client secret").fill(registered.clientSecret);
      await expectAccessible(page);
      await again.getByRole("button", { name: "Reconnect" }).click();
      await row.getByText("healthy", { exact: true }).waitFor();
      const before = depot.tokenRequests.length;
      await expect.poll(() => depot.tokenRequests.length, { timeout: 150_000 }).toBeGreaterThan(before);
      const [stock] = (await accounts()).filter(({ name }) => name === "Stock");
      await world.api("DELETE", `/accounts/${stock?.id}`);
    } finally {
      await depot.stop();
    }
  });

  const accounts = () => world.api<{ id: string; name: string; healthy: boolean; needs_reconnect: boolean }[]>("GET", "/users/me/accounts");

  test("an app without a client links to the service's page on registering one", async () => {
    const page = await world.open("/accounts");
    await page.getByRole("button", { name: "Connect an account" }).click();
    const dialog = page.getByRole("dialog", { name: "Connect an account" });
    await dialog.getByLabel("Search apps").fill("slack");
    // Marks come from one file; Slack's is not free, so it has its letter.
    const slack = dialog.getByRole("listitem").filter({ hasText: "Slack" });
    const link = slack.getByRole("link", { name: "How to register a client at the service" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe("https://docs.slack.dev/authentication/installing-with-oauth");
    expect(await slack.locator("svg").count()).toBe(0);
    await dialog.getByLabel("Search apps").fill("gitlab");
    const mark = dialog.getByRole("listitem").filter({ hasText: "GitLab" }).locator("use");
    await expect.poll(() => mark.boundingBox().then((box) => box?.width ?? 0), { timeout: 150_000 }).toBeGreaterThan(10);
    await expectAccessible(page);
  });

  test("a person who refuses sees so in both tabs, and nothing is stored", async () => {
    const page = await world.open("/accounts");
    const tab = await begin(page);
    await tab.getByRole("link", { name: "Cancel" }).click();
    await tab.getByRole("heading", { name: "Acme is not connected" }).waitFor();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await expectAccessible(page);
    expect(await accounts()).toEqual([]);
  });

  test("a person signs in, consents, and has an account, whose token is refreshed; after a withdrawal it is connected again", async () => {
    const page = await world.open("/accounts");
    const tab = await begin(page);
    await signIn(tab);
    await consent(tab);
    await tab.getByRole("heading", { name: "Acme is connected" }).waitFor();
    await page.getByText("The account is connected", { exact: true }).waitFor();
    await page.getByRole("button", { name: "ada-at-acme" }).waitFor();
    const [account] = await accounts();
    const id = account?.id ?? "";
    // The code and at least one rotation of the refresh token.
    await expect.poll(() => provider.issued(), { timeout: 150_000 }).toBeGreaterThanOrEqual(3);
    expect(provider.refusals).toEqual([]);

    const source = await world.api<{ id: string }>("POST", "/sources", {
      component_code: `export default { name: "Acme Source", version: "0.0.1", props: { acme: { type: "app", app: "acme" } }, run() {} };`,
      configured_props: { acme: { authProvisionId: id } },
    });
    await page.getByRole("button", { name: "ada-at-acme" }).click();
    const used = page.getByRole("dialog", { name: "ada-at-acme" }).getByRole("region", { name: "Used by" });
    await used.getByText("source", { exact: true }).waitFor();
    await expectAccessible(page);
    await used.getByRole("link", { name: "acme-source" }).click();
    await page.getByRole("heading", { name: "acme-source" }).waitFor();
    await page.goto(`${world.url}/accounts`);
    await provider.withdraw();
    const row = page.getByRole("row", { name: /ada-at-acme/ });
    await row.getByText("needs reconnect").waitFor();
    await expectAccessible(page);
    await page.goto(`${world.url}/sources/${source.id}`);
    await page.getByText(`account ${id} ("ada-at-acme") of app acme must be connected again`).waitFor();

    // As a mail links to it.
    await page.goto(`${world.url}/accounts?reconnect=${id}`);
    const dialog = page.getByRole("dialog", { name: "Reconnect: ada-at-acme" });
    await expectAccessible(page);
    const again = await tabOf(page, () => dialog.getByRole("button", { name: "Reconnect" }).click());
    await consent(again);
    await again.getByRole("heading", { name: "Acme is connected" }).waitFor();
    await page.getByText("The account is connected", { exact: true }).waitFor();
    await page
      .getByRole("row", { name: /ada-at-acme/ })
      .getByText("healthy", { exact: true })
      .waitFor();
    expect(await accounts()).toMatchObject([{ id, name: "ada-at-acme", needs_reconnect: false }]);
    await expect
      .poll(() => world.api<{ state: string; problem: unknown }>("GET", `/sources/${source.id}`), { timeout: 150_000 })
      .toMatchObject({ state: "active", problem: null });
  });
});
