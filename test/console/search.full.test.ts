import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();
let source = "";

const code = `export default {
  name: "Stock", props: { http: "$.interface.http" },
  run({ item, note }) {
    console.warn("low on " + item);
    if (item === "pears") throw new Error("negative stock of pears");
    this.$emit({ item, note }, { name: "sold", summary: "Sold " + item });
  },
};`;

interface Found {
  readonly items: readonly unknown[];
}

describe.skipIf(chromiumPath === undefined)("the search", () => {
  beforeAll(async () => {
    const made = await world.api<{ readonly id: string }>("POST", "/sources", { component_code: code, name: "Searched stock" });
    source = made.id;
    for (const item of ["apples", "pears"]) await world.api("POST", `/sources/${source}/runs`, { event: { item, note: hostileText } });
    const q = encodeURIComponent(`source:${source}`);
    await until(async () => (await world.api<Found>("GET", `/search?q=${q}`)).items.length === 6, "both runs are recorded");
  });

  test("takes a query by the keyboard, keeps it in the address, and leads to the trace, the event and the source", async () => {
    const page = await world.open("/");
    await page.getByRole("link", { name: "Search", exact: true }).click();
    await page.getByText("Search everything that you may see").waitFor();
    await expectAccessible(page);
    // The field has the focus.
    await page.keyboard.type(`source:${source} pears`);
    await page.keyboard.press("Enter");
    const results = page.getByRole("list", { name: "Results" });
    await results.getByText("negative stock of pears").first().waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe(`source:${source} pears`);
    await results.getByText("Log warn").waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    await results.getByRole("link", { name: "Error: negative stock of pears" }).first().click();
    await page.getByRole("region", { name: "Inspector" }).waitFor();
    await page.goBack();
    await results.getByRole("link", { name: "Searched stock" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Searched stock" }).waitFor();

    // A link to the search shows the same.
    const linked = await world.open(`/search?q=${encodeURIComponent(`kind:event source:${source} apples`)}`);
    await linked.getByText("1 found").waitFor();
    await linked.getByText("sold", { exact: true }).waitFor();
    await linked.getByRole("link", { name: "Show it among the events" }).click();
    await linked.getByRole("dialog").getByText("<img", { exact: false }).first().waitFor();
  });

  test("says what is wrong with a query, and when there is nothing", async () => {
    const page = await world.open("/search?q=level%3Afatal");
    await page.getByText("the query is invalid at character 1: level 'fatal' is unknown", { exact: false }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("/");
    await page.keyboard.press("Control+a");
    await page.keyboard.type(`source:${source} absent`);
    await page.keyboard.press("Enter");
    await page.getByText("Nothing found", { exact: true }).waitFor();
    await expectAccessible(page);
  });

  test("searches further back when a page has ended early", async () => {
    const page = await world.open("/search");
    const pages = [
      { items: [], cursor: "next", searched_to_ms: 1_900_000_000_000 },
      { items: [], cursor: null, searched_to_ms: null },
    ];
    const cursors: (string | null)[] = [];
    await page.route("**/v1/search?*", async (route) => {
      cursors.push(new URL(route.request().url()).searchParams.get("cursor"));
      await route.fulfill({ json: { data: pages[cursors.length - 1] } });
    });
    await page.getByRole("button", { name: "level:error after:-2h" }).click();
    await page.getByText("Nothing found so far").waitFor();
    await page.getByText("Everything was searched back to").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Search further back" }).click();
    await page.getByText("Nothing found", { exact: true }).waitFor();
    expect(cursors).toEqual([null, "next"]);
  });

  test("puts new matches on top while it is live, pauses for a person who reads, and says when it is disconnected", async () => {
    const sell = (item: string): Promise<unknown> => world.api("POST", `/sources/${source}/runs`, { event: { item } });
    const page = await world.open(`/search?q=${encodeURIComponent(`kind:event source:${source}`)}`);
    const results = page.getByRole("list", { name: "Results" });
    await results.getByText("Sold apples").waitFor();
    const live = page.getByRole("switch", { name: "Live" });
    await live.focus();
    await page.keyboard.press("Space");
    const status = page.getByRole("status");
    await status.getByText("Live", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("live")).toBe("true");
    await expectAccessible(page);
    await expectFitsWidths(page);
    await sell("plums");
    await results.getByText("Sold plums").waitFor();
    const shown = async (): Promise<readonly string[]> =>
      (await results.getByRole("listitem").allInnerTexts()).map((text) => /Sold \w+/.exec(text)?.[0] ?? text);
    // Each once, whatever the search that began with the stream has found.
    await until(async () => (await shown()).join() === "Sold plums,Sold apples", "it is above the others");

    // A person who moves to a result reads it.
    await results.getByRole("link", { name: "Sold plums" }).focus();
    await status.getByText("Paused").waitFor();
    await sell("figs");
    await page.getByRole("button", { name: "Continue (1 new)" }).waitFor();
    await expectAccessible(page);
    expect(await shown()).toEqual(["Sold plums", "Sold apples"]);
    await page.getByRole("button", { name: "Continue (1 new)" }).click();
    await until(async () => (await shown())[0] === "Sold figs", "it goes on");

    // So does one who scrolls down.
    await page.setViewportSize({ width: 600, height: 200 });
    await page.mouse.move(300, 100);
    await page.mouse.wheel(0, 200);
    await status.getByText("Paused").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await status.getByText("Live", { exact: true }).waitFor();

    await live.click();
    await page.getByRole("button", { name: "Pause" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("live")).toBeNull();
  });

  test("says that the live search is disconnected, refused, or incomplete", async () => {
    const page = await world.open("/search");
    let answers = 0;
    await page.route("**/v1/search/sse?*", async (route) => {
      const body = ':sse-handshake\n\nevent: skipped\ndata: {"commits":0,"items":7}\n\n';
      answers++;
      await (answers === 1 ? route.fulfill({ contentType: "text/event-stream", body }) : route.fulfill({ status: 503, json: {} }));
    });
    await page.getByRole("button", { name: "level:error after:-2h" }).click();
    await page.getByRole("switch", { name: "Live" }).click();
    await page.getByText("Connection lost, trying again…").waitFor();
    await page.getByText("Some matches are missing here", { exact: false }).waitFor();
    await expectAccessible(page);
    await page.unroute("**/v1/search/sse?*");
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    const refused = await world.open("/search?q=before%3A-1h&live=true");
    await refused.getByText("The live search was refused").waitFor();
    await refused.getByText("leave out before", { exact: false }).waitFor();
    await expectAccessible(refused);
  });

  test("is searched again while it is live, for what was recorded late", async () => {
    const page = await world.open("/");
    let isRecorded = false;
    await page.route("**/v1/search?*", (route) =>
      isRecorded ? route.fallback() : route.fulfill({ json: { data: { items: [], cursor: null, searched_to_ms: null } } }),
    );
    await page.goto(new URL(`/search?q=${encodeURIComponent(`kind:event source:${source} apples`)}&live=true`, page.url()).href);
    // The event is recorded after the page has searched, and usually after the search that follows the connection of the stream.
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    isRecorded = true;
    await page.getByRole("list", { name: "Results" }).getByText("Sold apples").waitFor();
  });

  test("says why the live search cannot be connected, and forgets what was skipped when a person searches again", async () => {
    const page = await world.open("/search");
    const refusal = { error: "10 live searches of admin are open on this server, the limit is 10: close some", code: "too_many_streams" };
    let answers = 0;
    await page.route("**/v1/search/sse?*", async (route) => {
      const body = 'event: skipped\ndata: {"commits":0,"items":7}\n\n';
      answers++;
      await (answers === 1 ? route.fulfill({ contentType: "text/event-stream", body }) : route.fulfill({ status: 429, json: refusal }));
    });
    await page.getByRole("button", { name: "level:error after:-2h" }).click();
    await page.getByRole("switch", { name: "Live" }).click();
    const status = page.getByRole("status").filter({ hasText: "Connection lost" });
    await status.getByText("10 live searches of admin are open", { exact: false }).waitFor();
    const skipped = status.getByText("Some matches are missing here", { exact: false });
    await skipped.waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await skipped.waitFor({ state: "detached" });
    await status.getByText("10 live searches of admin are open", { exact: false }).waitFor();
  });
});
