import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

let webhook: { readonly id: string };
let source: { readonly id: string };

describe.skipIf(chromiumPath === undefined)("the page of subscriptions", () => {
  beforeAll(async () => {
    const code = `export default { name: "S", props: { http: "$.interface.http" }, async run() {} };`;
    source = await world.api("POST", "/sources", { component_code: code, name: "Feeding" });
    await world.api("POST", "/sources", { component_code: code, name: hostileText });
    webhook = await world.api("POST", "/webhooks", { url: "https://example.com/hook", name: "Fed" });
  });

  test("says what to do without any", async () => {
    const page = await world.open("/subscriptions");
    await page.getByText("There are no subscriptions yet").waitFor();
    await expectAccessible(page);
  });

  test("refuses an unknown emitter, and keeps the form", async () => {
    const page = await world.open("/subscriptions");
    await page.getByLabel(/^Source or workflow that emits/).fill("dc_unknown");
    await page.getByLabel(/^Webhook, source or workflow/).fill(webhook.id);
    await page.getByRole("button", { name: "Subscribe" }).click();
    await page.getByText("The subscription was not created").waitFor();
    expect(await page.getByLabel(/^Source or workflow that emits/).inputValue()).toBe("dc_unknown");
  });

  test("subscribes to the errors of all sources", async () => {
    const page = await world.open("/subscriptions?tab=auto");
    await page.getByLabel(/^Webhook, source or workflow/).fill(webhook.id);
    await page.getByRole("button", { name: "Subscribe" }).click();
    await page.getByRole("cell", { name: "$errors" }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("There is none for all sources").waitFor();
    await expectAccessible(page);
  });

  test("shows the list on a narrow screen", async () => {
    const page = await world.open("/subscriptions", { width: 390 });
    await page.getByText("There are no subscriptions yet").waitFor();
    await expectFitsWidths(page, [60, 390]);
  });

  test("finds the subscriptions of a webhook on every page of the list", async () => {
    const [first, last] = await Promise.all(
      ["First", "Last"].map((name) => world.api<{ readonly id: string }>("POST", "/webhooks", { url: "https://example.com/hook", name })),
    );
    const subscribe = (listener: string | undefined, channel: string): Promise<unknown> =>
      world.api("POST", "/subscriptions", { emitter_id: source.id, listener_id: listener, event_name: channel });
    await subscribe(first?.id, "");
    for (let channel = 0; channel < 101; channel++) await subscribe(webhook.id, `channel-${channel}`);
    await subscribe(last?.id, "");
    for (const listener of [first, last]) {
      const page = await world.open(`/webhooks/${listener?.id}?tab=subscriptions`);
      await page.getByRole("link", { name: "Feeding" }).waitFor();
      expect(await page.getByRole("row").count()).toBe(2);
    }
  });

  test("asks no further after a refused page of the list, until the person tries again", async () => {
    const unfed = await world.api<{ readonly id: string }>("POST", "/webhooks", { url: "https://example.com/hook", name: "Unfed" });
    const page = await world.open(`/webhooks/${unfed.id}`);
    let refused = 0;
    let isLimited = true;
    await page.route(/subscriptions\?.*after=/, (route) => {
      if (!isLimited) return route.continue();
      refused++;
      return route.fulfill({ status: 429, json: { error: "the request limit is reached" } });
    });
    await page.getByRole("navigation", { name: "Views of the webhook" }).getByRole("link", { name: "Subscriptions" }).click();
    await page.getByRole("alert").getByText("the request limit is reached").waitFor();
    isLimited = false;
    const empty = page.getByText("No source feeds this webhook");
    // The list is also read again now and then, which may come before the click.
    await Promise.any([page.getByRole("button", { name: "Try again" }).click(), empty.waitFor()]);
    await empty.waitFor();
    expect(refused).toBeLessThan(5);
  });
});
