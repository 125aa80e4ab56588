import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths, writeCode } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

const component = (body: string): string =>
  `export default { name: "Made", props: { http: "$.interface.http" }, async run() { ${body} } };`;

describe.skipIf(chromiumPath === undefined)("sources", () => {
  beforeAll(async () => {
    await world.api("POST", "/sources", { component_code: component("throw new Error('never')"), name: "Broken" });
    await world.api("POST", "/sources", { component_code: component("this.$emit(1)"), name: hostileText + "y".repeat(150), active: false });
  });

  test("say what to do when nothing matches", async () => {
    const page = await world.open("/sources?q=nothing-has-this-name");
    await page.getByRole("button", { name: "Show all sources" }).click();
    await page.getByRole("link", { name: "Broken" }).waitFor();
  });

  test("are listed in another tab as soon as one creates them", async () => {
    const page = await world.open("/sources");
    await page.getByRole("link", { name: "Broken" }).waitFor();
    await world.api("POST", "/sources", { component_code: component("this.$emit(2)"), name: "Newcomer" });
    await page.getByRole("link", { name: "Newcomer" }).waitFor();
  });

  test("Home lists what fails", async () => {
    const { configured_props: props } = await world.api<{ configured_props: { http: { endpoint_url: string } } }>("POST", "/sources", {
      component_code: component("throw new Error('the shop is closed')"),
      name: "Closed",
    });
    for (let run = 0; run < 6; run++) await fetch(props.http.endpoint_url);
    const page = await world.open("/");
    await page.getByText(/the shop is closed/).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
  });
});

describe.skipIf(chromiumPath === undefined)("a new source", () => {
  test("is made from a template, with its props as a form", async () => {
    const page = await world.open("/sources/new");
    await page.getByRole("button", { name: /^Choose: .*[Hh]eartbeat/ }).click();
    await page.getByLabel("Name").fill("My heartbeat");
    await expectAccessible(page);
    await expectFitsWidths(page);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { name: "My heartbeat", level: 1 }).waitFor();
  });

  test("shows what is wrong with its code, at the place", async () => {
    const page = await world.open("/sources/new?tab=code");
    await writeCode(page, "export default { run() { return 1 +; } };");
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByText("The code cannot be built").waitFor();
    await page.locator(".cm-lintRange-error").first().waitFor();
    await expectAccessible(page);
  });

  test("shows hook, stack and cause when activate fails", async () => {
    const page = await world.open("/sources/new?tab=code");
    await writeCode(
      page,
      `export default { name: "Failing", hooks: { async activate() { await fetch("http://10.0.0.1/"); } }, run() {} };`,
    );
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("hook activate failed: TypeError: fetch failed").waitFor();
    await alert
      .getByText(/at async Object\.activate \(component\.mjs:1:\d+\)[^]*\[cause\]: Forbidden: egress to 10\.0\.0\.1 is denied/)
      .waitFor();
    expect(await alert.getByText("observation error").count()).toBe(0);
    await expectAccessible(page);
    await expectFitsWidths(page);
  });

  test("keeps its code when the page is left before it is deployed", async () => {
    const page = await world.open("/sources/new?tab=code");
    await page.getByLabel("Language").selectOption("TypeScript");
    await writeCode(page, "export default { name: 'Kept', async run() {} }; // not deployed");
    await page.getByRole("link", { name: "Catalogue" }).click();
    await page.getByRole("link", { name: "Code", exact: true }).click();
    await page.getByText("Your changes were kept").waitFor();
    await page.locator(".cm-content").getByText("// not deployed").waitFor();
    expect(await page.getByLabel("Language").inputValue()).toBe("typescript");
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { name: /kept/i, level: 1 }).waitFor();
    await page.goBack();
    await page.locator(".cm-content").getByText("export default").waitFor();
    expect(await page.getByText("Your changes were kept").count()).toBe(0);
  });

  test("reports an address that cannot be read", async () => {
    const page = await world.open("/sources/new?tab=address");
    await page.getByLabel("Address of the component").fill("http://127.0.0.1:9/component.mjs");
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByText("The code cannot be built").waitFor();
  });

  test("reports a prop without a value, and keeps the form", async () => {
    const code = `export default { name: "Needs", props: { city: { type: "string", label: "City" } }, async run() {} };`;
    const { id } = await world.api<{ readonly id: string }>("POST", "/components", { component_code: code });
    expect(id).toMatch(/^sc_/);
    const page = await world.open("/sources/new?tab=code");
    await writeCode(page, code);
    await page.getByRole("button", { name: "Check the code" }).click();
    await page.getByLabel(/^City/).fill("Kiel");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { name: /needs/i, level: 1 }).waitFor();
  });
});
