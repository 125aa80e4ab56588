import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

const world = withConsole();

interface Webhook {
  readonly id: string;
}

const emitter = `export default {
  name: "Emitter", props: { http: { type: "$.interface.http", customResponse: true } },
  async run(event) { this.$emit(event.body, { summary: event.body.text }); this.http.respond({ status: 200 }); },
};`;

let endpoint: string;
let source: string;
let receiver: Receiver;
let status = 200;

const emit = async (text: string): Promise<void> => {
  const headers = { "content-type": "application/json" };
  expect((await fetch(endpoint, { method: "POST", headers, body: JSON.stringify({ text }) })).status).toBe(200);
};

/** A webhook that is subscribed to the source. */
async function subscribed(name: string, options: object = {}): Promise<Webhook> {
  const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name, ...options });
  await world.api("POST", `/subscriptions?emitter_id=${source}&listener_id=${webhook.id}`);
  return webhook;
}

const totalOf = async (path: string): Promise<number> => {
  const { body } = await world.user.call<{ readonly page_info: { readonly total_count: number } }>("GET", path);
  return body.page_info.total_count;
};
const totalDead = ({ id }: Webhook): Promise<number> => totalOf(`/webhooks/${id}/dead_letters`);
const totalDelivered = ({ id }: Webhook): Promise<number> => totalOf(`/webhooks/${id}/deliveries?outcome=delivered`);

const openTab = (webhook: Webhook, tab: string): Promise<Page> => world.open(`/webhooks/${webhook.id}?tab=${tab}`);

describe.skipIf(chromiumPath === undefined)("webhooks", () => {
  beforeAll(async () => {
    receiver = await startReceiver(() => status);
    const made = await world.api<{ readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } }>(
      "POST",
      "/sources",
      { component_code: emitter, name: "Emitter" },
    );
    [source, endpoint] = [made.id, made.configured_props.http.endpoint_url];
    return () => receiver.close();
  });

  beforeEach(() => {
    status = 200;
  });

  test("show why an attempt failed, with its request and response, and send it again", async () => {
    const webhook = await subscribed("Failing");
    status = 500;
    await emit("to fail");
    await until(async () => (await totalDead(webhook)) === 1, "the delivery is dead");
    status = 200;
    const page = await openTab(webhook, "attempts");
    await page.getByLabel("Outcome").selectOption("dead");
    await page.getByRole("table", { name: "Attempts" }).getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Attempt" });
    await dialog.getByText("HTTP 500").waitFor();
    await dialog
      .getByRole("list", { name: "Headers of the request" })
      .getByText(/webhook-signature/)
      .waitFor();
    await dialog.getByRole("list", { name: "Headers of the response" }).getByText(/date/).waitFor();
    await dialog.getByText('"to fail"').waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Send again" }).click();
    await page.getByText("The delivery is on the way again").waitFor();
    await page.getByLabel("Outcome").selectOption("delivered");
    await page.getByRole("table", { name: "Attempts" }).getByRole("button").first().waitFor();
  });

  test("show the error event of a failed run, and lead to it", async () => {
    const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name: "Errors" });
    await world.api("POST", "/subscriptions", { emitter_id: source, listener_id: webhook.id, event_name: "$errors" });
    await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: "null" });
    await until(async () => (await totalDelivered(webhook)) === 1, "the error is delivered");
    const page = await openTab(webhook, "attempts");
    await page.getByRole("table", { name: "Attempts" }).getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Attempt" });
    await dialog.getByRole("group", { name: "Event" }).getByText("TypeError").first().waitFor();
    await dialog.getByRole("link", { name: source }).click();
    const event = page.getByRole("dialog", { name: "Event" });
    await event.getByRole("group", { name: "Event" }).getByText("TypeError").first().waitFor();
    await event.getByRole("region", { name: "Deliveries" }).getByText("delivered").waitFor();
  });

  test("say that the event of an attempt is not stored any more", async () => {
    const webhook = await subscribed("Gone");
    await emit("to be deleted");
    await until(async () => (await totalDelivered(webhook)) === 1, "the event is delivered");
    await world.user.call("DELETE", `/sources/${source}/events`);
    const page = await openTab(webhook, "attempts");
    await page.getByRole("table", { name: "Attempts" }).getByRole("button").first().click();
    await page.getByText("The event is not stored any more").waitFor();
  });

  test("send the deliveries of selected attempts again, each once, and name what has arrived in the meantime", async () => {
    const webhook = await subscribed("Selected");
    status = 500;
    for (const text of ["first", "second"]) await emit(text);
    await until(async () => (await totalDead(webhook)) === 2, "two deliveries are dead");
    status = 200;
    const page = await openTab(webhook, "attempts");
    await page.getByLabel("Select all that are loaded").check();
    await page.getByText("2 selected").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    // All rows of a delivery are selected together.
    expect(await page.getByLabel(/^Select .*, attempt 1$/).count()).toBe(2);
    for (const box of await page.getByLabel(/^Select .*, attempt \d$/).all()) expect(await box.isChecked()).toBe(true);
    const { data } = await world.user
      .call<{ readonly data: readonly { readonly delivery_id: string }[] }>("GET", `/webhooks/${webhook.id}/dead_letters`)
      .then(({ body }) => body);
    await page.route(`**/v1/deliveries/${data[0]?.delivery_id}/retry`, (route) =>
      route.fulfill({
        status: 409,
        contentType: "application/json",
        body: JSON.stringify({ error: "it has arrived", code: "already_delivered" }),
      }),
    );
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Send again: 1 on the way").waitFor();
    await page
      .getByText(/: it has arrived/)
      .first()
      .waitFor();
    await until(async () => (await totalDelivered(webhook)) === 1, "one was delivered");
    expect(await totalDead(webhook)).toBe(1);
    await page.getByText("Delivered", { exact: true }).nth(1).waitFor();
    await page.getByLabel("Outcome").selectOption("delivered");
    await page.getByLabel("Select all that are loaded").check();
    expect(await page.getByRole("button", { name: "Send again" }).isDisabled()).toBe(true);
  });

  test("send chosen dead letters again, then all, and delete the rest by name", async () => {
    const webhook = await subscribed("Dead");
    status = 500;
    for (const text of ["one", "two", "three"]) await emit(text);
    await until(async () => (await totalDead(webhook)) === 3, "three deliveries are dead");
    const home = await world.open("/");
    await home.getByText("3 deliveries failed for good").first().waitFor();
    status = 200;
    const page = await openTab(webhook, "dead");
    await page
      .getByLabel(/^Select \d/)
      .first()
      .check();
    await page.getByRole("button", { name: "Send 1 again" }).click();
    await page.getByText("1 delivery is on the way again").waitFor();
    await page.getByLabel("Filter by cause").fill("answered 404");
    await page.getByText("No dead letter has this cause").waitFor();
    await page.getByLabel("Filter by cause").fill("ANSWERED");
    await page.getByLabel("Select all that are loaded").check();
    await page.getByRole("button", { name: /^Send \d again$/ }).waitFor();
    await page.getByLabel("Filter by cause").fill("");
    await until(async () => (await totalDelivered(webhook)) === 1, "one was delivered");
    expect(await totalDead(webhook)).toBe(2);
    await page.getByRole("button", { name: /^Send all \d again…$/ }).click();
    const redrive = page.getByRole("dialog", { name: "Send dead letters again" });
    await redrive.getByText("2 will be sent to Dead again").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await redrive.getByLabel("Given up").selectOption("In the last hour");
    await redrive.getByText("2 will be sent to Dead again").waitFor();
    await redrive.getByRole("button", { name: "Send 2 again" }).click();
    await page.getByText("2 deliveries are on the way again").waitFor();
    // A dead letter that is sent again is no dead letter, and may become one again.
    await until(async () => (await totalDelivered(webhook)) === 3, "all were delivered");
    expect(await totalDead(webhook)).toBe(0);
    status = 500;
    await emit("four");
    await until(async () => (await totalDead(webhook)) === 1, "another delivery is dead");
    await page.reload();
    await page.getByRole("button", { name: "Delete all…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Type Dead to confirm").fill("Dead");
    await dialog.getByRole("button", { name: "Delete all" }).click();
    await page.getByText("1 dead letters were deleted").waitFor();
    await page.getByText("No dead letters").waitFor();
    status = 200;
  });

  test("show that Headwater stopped posting after a 410, on Home too, and post again", async () => {
    const webhook = await subscribed("Gone");
    status = 410;
    await emit("gone");
    const page = await openTab(webhook, "attempts");
    await page.getByText("Headwater stopped posting here").waitFor();
    const home = await world.open("/");
    await home
      .getByText(/^Webhook disabled/)
      .first()
      .waitFor();
    status = 200;
    await page.getByRole("button", { name: "Post again" }).click();
    await page.getByText("Events are posted again").waitFor();
    await page.getByText("Headwater stopped posting here").waitFor({ state: "detached" });
  });

  test("show on Home, in the list and on their page that an endpoint fails, and why", async () => {
    const webhook = await subscribed("Down");
    status = 503;
    await emit("down");
    const home = await world.open("/");
    const item = home.getByRole("listitem").filter({ hasText: "Down" }).filter({ hasText: "the endpoint answered 503" });
    await item.filter({ hasText: "Failing" }).first().waitFor();
    await expectAccessible(home);
    const list = await world.open("/webhooks?q=Down");
    await list.getByRole("row").filter({ hasText: "Down" }).getByText("Failing", { exact: true }).waitFor();
    const page = await openTab(webhook, "attempts");
    await page.getByRole("alert").filter({ hasText: "failed: the endpoint answered 503" }).waitFor();
    await page.getByText("Success in the last hour").waitFor();
    await expectFitsWidths(page);
    status = 200;
    await emit("up");
    await page.getByRole("alert").filter({ hasText: "attempt_failed" }).waitFor({ state: "detached" });
  });

  test("show what waits in the queue of an ordered webhook", async () => {
    const webhook = await subscribed("Ordered", { ordered: true });
    await world.api("PUT", `/webhooks/${webhook.id}`, { active: true });
    status = 503;
    await emit("first in the queue");
    await emit("second in the queue");
    const page = await openTab(webhook, "backlog");
    await page.getByText("Ordered queues", { exact: true }).waitFor();
    await expectAccessible(page);
    status = 200;
  });

  test("send a test, and show what the endpoint answered", async () => {
    const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name: "Tested" });
    const page = await openTab(webhook, "attempts");
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/The endpoint accepted the test: 200/).waitFor();
    status = 401;
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The endpoint did not accept the test").first().waitFor();
    status = 200;
  });

  test("are paused, and that is undone", async () => {
    const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name: "Pausing" });
    const page = await openTab(webhook, "attempts");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Active", { exact: true }).waitFor();
  });

  test("are subscribed and unsubscribed, with undo", async () => {
    const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name: "Listening" });
    const page = await openTab(webhook, "subscriptions");
    await page.getByText("No source feeds this webhook").waitFor();
    await page.getByLabel(/^Source or workflow that emits/).fill(source);
    await page.getByRole("button", { name: "Subscribe" }).click();
    await page.getByRole("link", { name: "Emitter" }).waitFor();
    await page.getByRole("button", { name: "Remove Emitter to Listening" }).click();
    await page.getByText("The subscription was removed").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "Emitter" }).waitFor();
  });

  test("change settings, rotate the key, and are deleted by name", async () => {
    const webhook = await world.api<Webhook>("POST", "/webhooks", { url: receiver.url, name: "Changing" });
    const page = await openTab(webhook, "settings");
    await page.getByLabel("Name").fill("Changed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Changed" }).waitFor();
    await page.getByRole("button", { name: "Rotate the key" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("button", { name: "Delete the webhook" }).click();
    await page.getByRole("dialog").getByLabel("Type Changed to confirm").fill("Changed");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  });
});
