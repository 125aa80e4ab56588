import { beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths, writeCode } from "./support/browser.ts";
import { expectAccessible, hostileText, withConsole } from "./support/console.ts";

const world = withConsole();

const component = (body: string): string =>
  `export default { name: "Made", props: { http: "$.interface.http" }, async run() { ${body} } };`;

describe.skipIf(chromiumPath === undefined)("on an empty installation", () => {
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

describe.skipIf(chromiumPath === undefined)("sources", () => {
  beforeAll(async () => {
    await world.api("POST", "/sources", { component_code: component("throw new Error('never')"), name: "Broken" });
    await world.api("POST", "/sources", { component_code: component("this.$emit(1)"), name: hostileText + "y".repeat(150), active: false });
  });

  test("are listed with their state, searched and filtered in the address", async () => {
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
    await page.getByRole("link", { name: "A template" }).click();
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
