import { describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

describe.skipIf(chromiumPath === undefined)("data stores", () => {
  test("are created, show their keys, and are deleted", async () => {
    const page = await world.open("/data-stores");
    await page.getByText("You have no data stores yet").waitFor();
    await page.getByRole("button", { name: "New data store" }).click();
    await page.getByRole("dialog").getByLabel(/^Name/).fill("orders");
    await page.getByLabel("Description").fill("by number");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("0 keys, 0 B").waitFor();
    const { body } = await world.user.call<{ readonly data: readonly { readonly id: string }[] }>("GET", "/data_stores");
    const [store] = body.data;
    expect(body.data).toHaveLength(1);
    await world.api("PUT", `/data_stores/${store?.id}/entries/last`, { value: { number: 7, text: hostileText } });
    const again = await world.open("/data-stores");
    await again.getByText(/^1 key, /).waitFor();
    await expectAccessible(again);
    await again.getByRole("button", { name: "orders", exact: true }).click();
    const dialog = again.getByRole("dialog");
    await dialog.getByRole("button", { name: "last", exact: true }).click();
    await dialog.getByText('"number": 7', { exact: false }).waitFor();
    await expectAccessible(again);
    await expectFitsWidths(again);
    await world.api("DELETE", `/data_stores/${store?.id}`);
    await (await world.open("/data-stores")).getByText("You have no data stores yet").waitFor();
  });
});
