import { beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths, writeCode } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

interface Created {
  readonly id: string;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

/** Emits the body of each request, and fails if the body says so. */
const code = `export default {
  name: "Orders",
  version: "0.1.0",
  props: {
    db: "$.service.db",
    city: { type: "string", label: "City", default: "Berlin" },
    token: { type: "string", label: "Token", secret: true, optional: true },
    http: { type: "$.interface.http", customResponse: true },
  },
  async run(event) {
    this.http.respond({ status: 200 });
    console.log("got", event.body?.n);
    if (event.body?.fail) throw new Error("cannot use order " + event.body.n);
    this.db.set("last", event.body?.n);
    this.$emit(event.body ?? {}, { summary: event.body?.summary ?? "order " + event.body?.n, name: event.body?.channel });
  },
};
`;

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

const open = (search = "", path = ""): Promise<Page> => world.open(`/sources/${source.id}${path}${search}`);

describe.skipIf(chromiumPath === undefined)("the page of a source", () => {
  beforeAll(async () => {
    source = await world.api("POST", "/sources", { component_code: code, name: "Orders" });
    receiver = await startReceiver();
    const webhook = await world.api<{ readonly id: string }>("POST", "/webhooks", { url: receiver.url });
    await world.api("POST", `/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`);
    await send({ n: 1 });
    return () => receiver.close();
  });

  test("shows events as they arrive, filters them, and pauses", async () => {
    const page = await open();
    await page.getByText("Live", { exact: true }).waitFor();
    await send({ summary: "second" });
    await page.getByRole("button", { name: "second" }).waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).last().click();
    await send({ summary: "third" });
    await page.getByRole("button", { name: "Continue (1 new)" }).click();
    await page.getByRole("button", { name: "third" }).waitFor();
    await page.getByLabel("Filter events").fill("second");
    await page.getByRole("button", { name: "third" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe("second");
  });

  test("shows hostile and large events as text", async () => {
    await send({ n: 5, summary: hostileText, large: "x".repeat(500_000) });
    const page = await open();
    await page.getByRole("button", { name: "<img src=x" }).first().click();
    await page.getByRole("dialog").getByText("The rest is not shown.").first().waitFor();
    await expectFitsWidths(page);
  });

  test("shows a run with its trigger, logs, error and events", async () => {
    await send({ n: 6, fail: true });
    const page = await open("?tab=runs");
    await page.getByLabel("Only failed runs").check();
    await page.getByRole("table", { name: "Runs" }).getByRole("link").first().click();
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByText("cannot use order 6").first().waitFor();
    await inspector.getByRole("tab", { name: "Logs" }).click();
    await inspector.getByText("got 6").waitFor();
    await page.getByRole("row", { name: /HTTP request/ }).waitFor();
    await expectAccessible(page);
  });

  test("groups errors by their message", async () => {
    await send({ n: 7, fail: true });
    const page = await open("?tab=errors");
    await page.getByText("cannot use order 7").first().waitFor();
    await page.getByText("Runs: 2").waitFor();
  });

  test("shows log lines as they are written", async () => {
    const page = await open("?tab=logs");
    await page.getByText("Live", { exact: true }).waitFor();
    await send({ n: 8 });
    await page.getByText("got 8").waitFor();
  });

  test("says why a source without a timer has no ticks", async () => {
    const page = await open("?tab=ticks");
    await page.getByText("Sources with a timer have a tick").waitFor();
  });

  test("changes code: marks an error and keeps the old version, then deploys the correct code", async () => {
    const page = await open("?tab=code");
    const editor = page.getByRole("textbox", { name: "Code" });
    await editor.waitFor();
    await writeCode(page, code.replace("async run(event) {", "async run(event) {{"));
    await page.getByRole("button", { name: "Deploy this code" }).click();
    await page.getByText("The code was not deployed").waitFor();
    await writeCode(page, code.replace('"got"', '"received"'));
    await page.getByLabel("Show what changed").check();
    await page.getByRole("button", { name: "Deploy this code" }).click();
    await page.getByText("The new code runs").waitFor();
    await send({ n: 9 });
    const logs = await open("?tab=logs");
    await logs.getByText("received 9").waitFor();
    await expectAccessible(page);
  });

  test("shows the warnings of code that is checked, and of code that is deployed", async () => {
    const page = await open("?tab=code");
    await page.getByRole("textbox", { name: "Code" }).waitFor();
    await writeCode(page, code.replace("props: {", 'dedup: "unique", hooks: { deply() {} }, props: {'));
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByText("The code can be built").waitFor();
    await page.getByText("There are 2 warnings").waitFor();
    await page.getByText("'dedup' is unknown and has no effect: did you mean dedupe?").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await writeCode(page, code.replace("props: {", "hooks: { deply() {} }, props: {"));
    await page.getByRole("button", { name: "Deploy this code" }).click();
    await page.getByText("The new code runs").waitFor();
    await page.getByText("hooks.deply: hook 'deply' is unknown and is never called").waitFor();
    await page.locator(".cm-content", { hasText: "deply" }).waitFor();
    await writeCode(page, code);
    await page.getByRole("button", { name: "Deploy this code" }).click();
  });

  test("keeps changed code when the page is left, also to sign in again, until it is discarded", async () => {
    const page = await open("?tab=code");
    await page.getByRole("textbox", { name: "Code" }).waitFor();
    await writeCode(page, `${code}// not saved`);
    const editor = page.locator(".cm-content");
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    await page.goBack();
    await page.getByText("Your changes were kept").waitFor();
    await editor.getByText("// not saved").waitFor();
    await page.context().clearCookies();
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByLabel("API key").fill(world.user.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Sources" }).click();
    await page.getByRole("link", { name: "Orders" }).first().click();
    await page.getByRole("navigation", { name: "Views of the source" }).getByRole("link", { name: "Code" }).click();
    await editor.getByText("// not saved").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Discard the changes" }).click();
    await editor.getByText("// not saved").waitFor({ state: "detached" });
    await page.getByText("Your changes were kept").waitFor({ state: "detached" });
  });

  test("asks before a reload that would lose changed code", async () => {
    const page = await open("?tab=code");
    await page.getByRole("textbox", { name: "Code" }).waitFor();
    await writeCode(page, `${code}// not saved`);
    const asked = page.waitForEvent("dialog");
    const reload = page.reload().catch(() => undefined); // It does not happen.
    const dialog = await asked;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    await page.locator(".cm-content").getByText("// not saved").waitFor();
    await page.evaluate("window.stop()");
    await reload;
  });

  test("changes props, and never shows a secret", async () => {
    const page = await open("?tab=settings");
    await page.getByLabel("City").fill("Hamburg");
    await page.getByLabel("Token").fill("a-secret-of-the-test");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved").waitFor();
    await page.reload();
    await page.getByLabel("City").waitFor();
    expect(await page.getByLabel("City").inputValue()).toBe("Hamburg");
    expect(await page.content()).not.toContain("a-secret-of-the-test");
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("runs the source with an edited past event, as a dry run first", async () => {
    await send({ n: 10, summary: "to repeat" });
    const page = await open();
    await page.getByRole("button", { name: "Run now" }).click();
    const dialog = page.getByRole("dialog", { name: "Run now" });
    await dialog.getByLabel(/^Event/).fill('{"body": {"n": 77, "summary": "by hand"}}');
    await dialog.getByRole("checkbox", { name: /^Dry run/ }).check();
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.getByText("Would emit").waitFor();
    await dialog.getByText("db.last = 77").waitFor();
    await dialog.getByRole("checkbox", { name: /^Dry run/ }).uncheck();
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("row", { name: /Run by hand/ }).waitFor();
  });

  test("replays events to the listeners", async () => {
    const before = receiver.received.length;
    const page = await open();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByRole("button", { name: "Deliver again" }).click();
    await page.getByText(/events are delivered again/).waitFor();
    await until(() => receiver.received.length > before, "the webhook receives events again");
  });

  test("pauses and undoes it", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Pause", exact: true }).first().click();
    await page.getByText("Orders is paused").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Orders runs again").waitFor();
    await page.getByText("Active", { exact: true }).waitFor();
  });

  test("is deleted after its name is typed", async () => {
    const other = await world.api<Created>("POST", "/sources", { component_code: code, name: "To delete" });
    const page = await world.open(`/sources/${other.id}?tab=settings`);
    await page.getByRole("button", { name: "Delete the source" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Delete", exact: true }).isDisabled()).toBe(true);
    await dialog.getByLabel("Type To delete to confirm").fill("To delete");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
  });
});
