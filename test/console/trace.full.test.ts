import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

interface Created {
  readonly id: string;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}
interface Span {
  readonly kind: string;
  readonly name: string;
  readonly run_id?: string;
  readonly trace_id?: string;
}

const orders = `export default {
  name: "Orders",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ body }) {
    console.log("got order " + body.order);
    this.db.set("last", body.order);
    this.$emit(body, { id: body.order, summary: "order " + body.order });
    this.$emit(body, { id: body.order });
  },
};`;
const action = (body: string): string =>
  `export default { type: "action", name: "A step", version: "1.0.0", async run({ steps, $ }) { ${body} } };`;

let source: Created;
let receiver: Receiver;
/** Under which the trace of the first order can be asked for: run, event and delivery. */
let ids: readonly string[] = [];

const send = (order: number): Promise<Response> =>
  fetch(source.configured_props.http.endpoint_url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ order }),
  });

/** Two are in docs/console.md: with HEADWATER_PICTURES=1, the test writes them. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env["HEADWATER_PICTURES"] === undefined) return;
  await page.waitForLoadState("networkidle");
  await writeFile(
    join(import.meta.dirname, "..", "..", "docs", "images", `${name}.png`),
    await page.screenshot({ animations: "disabled" }),
  );
}

const tree = (page: Page) => page.getByRole("treegrid", { name: "Spans" });
const inspector = (page: Page) => page.getByRole("region", { name: "Inspector" });
const selected = (page: Page) => tree(page).getByRole("row", { selected: true });

describe.skipIf(chromiumPath === undefined)("the page of a trace", () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    source = await world.api("POST", "/sources", { component_code: orders, name: "Orders" });
    const workflow = await world.api<{ readonly id: string }>("POST", "/workflows", {
      name: "Billing",
      triggers: [{ type: "source", source_id: source.id }],
      steps: [
        { name: "charge", component_code: action("console.log('charging'); return { charged: steps.trigger.event.order };") },
        { name: "report", component_code: action("$.send.emit({ name: 'paid', raw_event: { paid: steps.charge.$return_value } });") },
      ],
    });
    const webhook = await world.api<{ readonly id: string }>("POST", "/webhooks", { url: receiver.url, name: "Shop" });
    await world.api("POST", `/subscriptions?emitter_id=${workflow.id}&listener_id=${webhook.id}&event_name=paid`);
    await send(7);
    await until(() => receiver.received.length === 1, "the webhook receives the event");
    const webhookId = String(receiver.received[0]?.headers["webhook-id"]);
    let spans: readonly Span[] = [];
    const read = (): Promise<readonly Span[]> =>
      world.api<{ readonly spans: readonly Span[] }>("GET", `/traces/${webhookId}`).then(
        (found) => found.spans,
        () => [],
      );
    await until(async () => (spans = await read()).at(-1)?.kind === "delivery", "the trace is recorded");
    ids = spans.flatMap(({ kind, trace_id }) => (trace_id === undefined || kind === "step" ? [] : [trace_id]));
    return () => receiver.close();
  });

  test("is the same tree from each of its ids, by keyboard alone, in both themes and on narrow screens", async () => {
    expect(ids).toHaveLength(5);
    let names: readonly string[] | undefined;
    for (const id of ids) {
      const page = await world.open(`/traces/${encodeURIComponent(id)}`);
      await selected(page).waitFor();
      const shown = await tree(page).getByRole("row").locator("bdi").allInnerTexts();
      names ??= shown;
      expect(shown).toEqual(names);
      await page.close();
    }
    expect(names?.filter((name) => name !== "Queue" && name !== "Start of the code")).toEqual([
      "HTTP request",
      "Orders",
      "Event",
      "Billing",
      "charge",
      "report",
      "paid",
      "Shop",
    ]);

    const page = await world.open(`/traces/${ids[0]}`, { width: 390 });
    await tree(page).focus();
    await page.keyboard.press("Home");
    await inspector(page).getByRole("heading", { name: "HTTP request" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await inspector(page).getByRole("heading", { name: "Orders" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await tree(page)
      .getByRole("row", { name: /Orders/, expanded: false })
      .waitFor();
    expect(await tree(page).getByRole("row").count()).toBe(2);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    await inspector(page).getByRole("heading", { name: "Shop" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await inspector(page).getByRole("heading", { name: "paid" }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("shows input, output, logs, emitted events, the state and the cost of a span", async () => {
    const page = await world.open(`/traces/${ids[0]}`);
    await selected(page).waitFor();
    await picture(page, "run");
    const open = (name: string): Promise<void> => inspector(page).getByRole("tab", { name }).click();
    await open("Logs");
    await inspector(page).getByText("got order 7").waitFor();
    await open("Events");
    await inspector(page).getByText("Dedupe dropped 1 event").waitFor();
    await open("State");
    await inspector(page).getByRole("cell", { name: "db.last" }).waitFor();
    await inspector(page).getByRole("cell", { name: "Added", exact: true }).waitFor();
    await open("Cost");
    await inspector(page).getByText("CPU time").waitFor();
    await tree(page)
      .getByRole("row", { name: /Step charge/ })
      .click();
    await open("Output");
    await inspector(page).getByText("charged").waitFor();
    await picture(page, "workflow");
    await open("Logs");
    await inspector(page).getByText("charging").waitFor();
    await tree(page)
      .getByRole("row", { name: /Delivery Shop/ })
      .click();
    await inspector(page).getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied").first().waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    const [request] = receiver.received;
    const sent = Object.entries(request?.headers ?? {}).filter(([name]) => !["host", "connection", "content-length"].includes(name));
    const headers = sent.map(([name, value]) => `-H '${name}: ${String(value)}'`).join(" ");
    expect(copied).toBe(`curl -X POST '${receiver.url}' ${headers} --data-raw '${request?.body}'`);
    await inspector(page).getByText("HTTP 200").waitFor();
    await open("Request");
    await inspector(page).getByText(String(request?.headers["webhook-signature"])).waitFor();
    await expectAccessible(page);
  });

  test("goes to the older and the newer run by J and K, and runs the workflow again with an edited event", async () => {
    await send(8);
    const runs = () => world.api<readonly { readonly id: string }[]>("GET", `/sources/${source.id}/runs`);
    await until(async () => (await runs()).length === 2, "the second run is recorded");
    const [newer, older] = await runs();
    const page = await world.open(`/sources/${source.id}?tab=runs&run=${newer?.id}`);
    await page.getByRole("button", { name: "Older run" }).and(page.locator(":enabled")).waitFor();
    await page.keyboard.press("j");
    await page.waitForURL((url) => url.pathname.endsWith(`/${older?.id}`));
    await page.getByRole("button", { name: "Newer run" }).and(page.locator(":enabled")).waitFor();
    await page.keyboard.press("k");
    await page.waitForURL((url) => url.pathname.endsWith(`/${newer?.id}`));

    await tree(page)
      .getByRole("row", { name: /Run Billing/ })
      .click();
    await inspector(page).getByRole("button", { name: "Run again with an edited event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Start" }).focus();
    const { pathname } = new URL(page.url());
    await page.keyboard.press("j");
    await dialog.getByLabel("Event").fill("{");
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.getByText("The event is not JSON").waitFor();
    expect(new URL(page.url()).pathname).toBe(pathname);
    await dialog.getByLabel("Event").fill('{"order": 99}');
    // A refresh that fails must not take away what was typed.
    await page.route("**/v1/traces/**", (route) => route.fulfill({ status: 503, body: "{}" }));
    await page.getByText("The trace could not be loaded again").waitFor();
    expect(await dialog.getByLabel("Event").inputValue()).toBe('{"order": 99}');
    await page.unroute("**/v1/traces/**");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.waitFor({ state: "detached" });
    await inspector(page).getByText("Repeats").waitFor();
    await until(() => receiver.received.some(({ body }) => body.includes("99")), "the new run has emitted");
  });

  test("says what to do about an id that is unknown", async () => {
    const page = await world.open("/traces/r_unknown");
    await page.getByRole("alert").getByText("This trace could not be loaded").waitFor();
    await expectAccessible(page);
  });

  test("shows a run of 300 steps, of which only the visible ones are in the page", async () => {
    const steps = [
      { name: "each", for_each: "{{ steps.trigger.event.items }}", steps: [{ name: "unit", component_code: action("return 1;") }] },
    ];
    const { id } = await world.api<{ readonly id: string }>("POST", "/workflows", { name: hostileText, steps });
    const event = { items: Array.from({ length: 300 }, (_, n) => n) };
    const run = (await world.api<{ readonly id: string }>("POST", `/workflows/${id}/runs`, { event })).id;
    await until(async () => {
      const { status } = await world.api<{ readonly status: string }>("GET", `/workflows/${id}/runs/${run}`);
      return status === "succeeded";
    }, "the run has ended");
    const page = await world.open(`/traces/${run}`);
    await selected(page).waitFor();
    await tree(page).focus();
    await page.keyboard.press("End");
    await tree(page).getByRole("row", { name: /unit/, selected: true }).waitFor();
    expect(Number(await tree(page).getAttribute("aria-rowcount"))).toBeGreaterThan(300);
    expect(await tree(page).getByRole("row").count()).toBeLessThan(60);
    await page.keyboard.press("Home");
    await tree(page)
      .getByRole("row", { name: /Run <img/ })
      .waitFor();
  });
});
