import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { chromiumPath } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

/** Sign-in, the first event, and its delivery; `*.full.test.ts` have the stories of the other pages. */
const world = withConsole();

interface Created {
  readonly id: string;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

const component = (body: string): string =>
  `export default { name: "Made", props: { http: "$.interface.http" }, async run(event) { ${body} } };`;

describe.skipIf(chromiumPath === undefined)("pages", () => {
  test("Sign-in takes an API key, by the keyboard alone, and opens the page that was asked for", async () => {
    const page = await world.open("/sources?state=failing", { isSignedOut: true });
    const field = page.getByLabel("API key");
    await field.waitFor();
    await page.keyboard.type(world.user.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("state")).toBe("failing");
  });

  test("Home leads to the first event, by the keyboard alone", async () => {
    const page = await world.open("/");
    const start = page.getByRole("link", { name: "Write code" });
    await start.waitFor();
    await expectAccessible(page);
    await start.focus();
    await page.keyboard.press("Enter");
    const check = page.getByRole("button", { name: "Check the code" });
    await check.focus();
    await page.keyboard.press("Enter");
    await page.getByText("The code can be built").waitFor();
    const interval = page.getByLabel("Every (seconds)");
    await interval.focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("1");
    const deploy = page.getByRole("button", { name: "Deploy", exact: true });
    await deploy.focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("heading", { name: "hello", level: 1 })
      .or(page.getByRole("heading", { name: "Hello", level: 1 }))
      .waitFor();
    await page
      .getByRole("button", { name: /^number \d+$/ })
      .first()
      .waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)("the page of a source", () => {
  let source: Created;
  let receiver: Receiver;

  const send = async (body: object): Promise<void> => {
    const response = await fetch(source.configured_props.http.endpoint_url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  };

  beforeAll(async () => {
    source = await world.api("POST", "/sources", {
      component_code: component("this.$emit(event.body, { summary: event.body.summary });"),
      name: "Orders",
    });
    receiver = await startReceiver();
    const webhook = await world.api<{ readonly id: string }>("POST", "/webhooks", { url: receiver.url });
    await world.api("POST", `/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`);
    return () => receiver.close();
  });

  test("a source opens an event as a tree, with its deliveries and their attempts", async () => {
    await send({ summary: "with delivery", nested: { deep: { value: hostileText } } });
    await until(() => receiver.received.some(({ body }) => body.includes("with delivery")), "the webhook receives the event");
    const page = await world.open(`/sources/${source.id}`);
    await page.getByRole("button", { name: "with delivery" }).click();
    const dialog = page.getByRole("dialog", { name: "Event" });
    await dialog.getByText("nested").waitFor();
    await dialog.getByText("delivered").waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.getByRole("dialog", { name: "Event" }).getByText("nested").waitFor();
  });
});
