import { describe, expect, test } from "vitest";
import { chromiumPath, expectFitsWidths } from "./support/browser.ts";
import { expectAccessible, withConsole } from "./support/console.ts";

const world = withConsole();

const step = (body: string): string => `export default { async run({ steps, $ }) { ${body} } };`;

async function workflow(name: string, body: string): Promise<string> {
  const made = await world.api<{ readonly id: string }>("POST", "/workflows", {
    name,
    triggers: [{ type: "http" }],
    steps: [{ name: "first", component_code: step(body) }],
  });
  return made.id;
}

describe.skipIf(chromiumPath === undefined)("workflows", () => {
  test("change, test and deploy their steps, and keep the old ones after an error", async () => {
    const id = await workflow("Editing", "return 1;");
    const page = await world.open(`/workflows/${id}`);
    await page.getByRole("button", { name: "Show the code" }).click();
    const editor = page.getByRole("textbox", { name: "Code: first" });
    const write = async (code: string): Promise<void> => {
      await editor.focus();
      await page.keyboard.press("Control+A");
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(code)})`);
      await page.keyboard.press("Control+V");
    };
    await editor.waitFor();
    await write(step("return { changed: true ;"));
    await page.getByRole("button", { name: "Deploy the steps" }).click();
    await page.getByText("The steps were not deployed").waitFor();
    await write(step("return { changed: true };"));
    await page.getByRole("button", { name: "Test the steps" }).click();
    await page.getByRole("region", { name: "Result of the test" }).getByText("changed").waitFor();
    const views = page.getByRole("navigation", { name: "Views of the workflow" });
    await views.getByRole("link", { name: "Runs" }).click();
    await views.getByRole("link", { name: "Steps" }).click();
    await page.getByText("Your changes were kept").waitFor();
    await page.locator(".cm-content").getByText("changed: true").waitFor();
    await page.getByRole("button", { name: "Add a step" }).click();
    await page.getByRole("dialog", { name: "Add a step" }).getByRole("button", { name: "Write code" }).click();
    await page.getByRole("button", { name: "Move up: Step 2: step_2" }).click();
    await page.getByRole("button", { name: "Remove: Step 1: step_2" }).click();
    await page.getByRole("button", { name: "Deploy the steps" }).click();
    await page.getByText("The steps were deployed").waitFor();
    await page.getByText("Your changes were kept").waitFor({ state: "detached" });
    await expectAccessible(page);
  });

  test("outline steps within steps, also while they are edited", async () => {
    const inner = (name: string) => ({ name, component_code: step("return 1;") });
    const { id } = await world.api<{ readonly id: string }>("POST", "/workflows", {
      name: "Nested",
      steps: [
        { name: "each", for_each: "{{ steps.trigger.event.items }}", steps: [{ name: "decide", if: "{{ true }}", then: [inner("deep")] }] },
        { name: "beside", parallel: [[inner("left")], [inner("right")]] },
      ],
    });
    const page = await world.open(`/workflows/${id}`);
    const outline = page.getByRole("region", { name: "Outline" });
    for (const line of ["for each of {{ steps.trigger.event.items }}", "if {{ true }}", "deep", "side by side, branch 2", "right"])
      await outline.getByText(line, { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFitsWidths(page);
    const control = page.getByRole("textbox", { name: "Control flow" }).first();
    await control.fill(JSON.stringify({ while: "{{ steps.deep.$return_value < 3 }}", steps: [inner("deep")] }));
    await outline.getByText("while {{ steps.deep.$return_value < 3 }}").waitFor();
    await control.fill(JSON.stringify({ if: 5, then: "no list", cases: [null, 1, { steps: [7, {}] }], parallel: { a: 1 } }));
    await outline.getByText("side by side, branch 2").waitFor();
  });

  test("start at times, with what happens while a run has not ended, and on events of a source", async () => {
    const page = await world.open("/workflows");
    const create = async (name: string, kind: string, fields: Readonly<Record<string, string>>): Promise<void> => {
      await page.getByRole("button", { name: "New workflow" }).first().click();
      const dialog = page.getByRole("dialog", { name: "New workflow" });
      await dialog.getByRole("textbox", { name: "Name" }).fill(name);
      await dialog.getByRole("combobox", { name: "Starts" }).selectOption({ label: kind });
      for (const [label, value] of Object.entries(fields)) {
        const field = dialog.getByLabel(label);
        await (label.startsWith("If") ? field.selectOption({ label: value }) : field.fill(value));
      }
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name }).waitFor();
      await page.goBack();
    };
    const source = await world.api<{ readonly id: string }>("POST", "/sources", {
      component_code: "export default { name: 'Emitting', version: '1.0.0', run() {} };",
    });
    await create("Daily", "At times", { Times: "0 9 * * *", "Time zone": "Europe/Berlin", "If the last run": "Skip the time" });
    await create("Listening", "On events of a source", { Source: source.id });
    const made = await world.api<readonly { readonly name: string; readonly triggers: readonly object[] }[]>("GET", "/users/me/workflows");
    const triggersOf = (name: string) => made.find((each) => each.name === name)?.triggers;
    expect(triggersOf("Daily")).toMatchObject([{ type: "timer", cron: "0 9 * * *", timezone: "Europe/Berlin", overlap: "skip" }]);
    expect(triggersOf("Listening")).toMatchObject([{ type: "source", source_id: source.id }]);
  });

  test("take an action of the registry, whose props are a form", async () => {
    const id = await workflow("From the registry", "return 1;");
    const page = await world.open(`/workflows/${id}`);
    await page.getByRole("button", { name: "Add a step" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Choose: Emit an Event" }).click();
    await page
      .getByRole("textbox", { name: /^Event/ })
      .first()
      .fill("{}");
    await page.getByLabel(/^Channel/).fill("large");
    await page.getByRole("button", { name: "Deploy the steps" }).click();
    await page.getByText("The steps were deployed").waitFor();
    const { steps } = await world.api<{ readonly steps: readonly object[] }>("GET", `/workflows/${id}`);
    expect(steps.at(-1)).toMatchObject({ component_key: "headwater-emit", props: { channel: "large" } });
    await expectAccessible(page);
  });

  test("group errors, filter runs in the address, and are deactivated with undo", async () => {
    const id = await workflow("Failing", "throw new Error('no stock of item ' + Date.now());");
    for (let run = 0; run < 2; run++) await world.api("POST", `/workflows/${id}/runs`, {});
    const page = await world.open(`/workflows/${id}?tab=errors`);
    await page
      .getByText(/no stock of item/)
      .first()
      .waitFor();
    await page.getByText("Runs: 2").waitFor();
    await page.getByRole("alert").filter({ hasText: "the last 2 runs failed" }).waitFor();
    await page.getByText("Failing", { exact: true }).first().waitFor();
    const home = await world.open("/");
    await home
      .getByRole("listitem")
      .filter({ hasText: "the last 2 runs failed" })
      .getByRole("link", { name: "Failing", exact: true })
      .waitFor();
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByLabel("Status").selectOption("failed");
    await page.getByRole("table", { name: "Runs" }).getByRole("link").first().waitFor();
    expect(new URL(page.url()).searchParams.get("status")).toBe("failed");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Deactivate" }).click();
    await page.getByText("Inactive", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Active", { exact: true }).waitFor();
  });

  test("pause, resume, cancel and repeat their runs", async () => {
    const id = await workflow("Holding", "if (steps.trigger.event.fails) throw new Error('no stock'); $.flow.suspend();");
    const run = (await world.api<{ readonly id: string }>("POST", `/workflows/${id}/runs`, { event: {} })).id;
    const page = await world.open(`/workflows/${id}?tab=runs&run=${run}`);
    const inspector = page.getByRole("region", { name: "Inspector" });
    await inspector.getByText("Waiting", { exact: true }).waitFor();
    await expectAccessible(page);
    await inspector.getByRole("button", { name: "Cancel" }).click();
    await inspector.getByText("it was canceled").waitFor();
    await inspector.getByRole("button", { name: "Repeat from the first step" }).click();
    await inspector.getByRole("link", { name: run }).waitFor();
    await inspector.getByText("Waiting", { exact: true }).waitFor();
    await inspector.getByRole("button", { name: "Approve" }).click();
    await inspector.getByText("Succeeded", { exact: true }).waitFor();
    const failed = (await world.api<{ readonly id: string }>("POST", `/workflows/${id}/runs`, { event: { fails: true } })).id;
    const other = await world.open(`/workflows/${id}?tab=runs&run=${failed}`);
    await other.getByRole("button", { name: "Repeat from the step that failed" }).click();
    await other.getByRole("region", { name: "Inspector" }).getByRole("link", { name: failed }).waitFor();
    await expectAccessible(other);
  });

  test("show what they emit as it happens", async () => {
    const id = await workflow("Emitting", "$.send.emit({ hello: 'from the workflow' });");
    const page = await world.open(`/workflows/${id}?tab=events`);
    await page.getByText("Live", { exact: true }).waitFor();
    await world.api("POST", `/workflows/${id}/runs`, {});
    await page.getByRole("button", { name: /from the workflow/ }).click();
    await page.getByRole("dialog").getByText('"from the workflow"').waitFor();
    await expectAccessible(page);
  });

  test("are renamed, and deleted by name", async () => {
    const id = await workflow("Old name", "return 1;");
    const page = await world.open(`/workflows/${id}?tab=settings`);
    await page.getByLabel(/^Name/).fill("New name");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "New name" }).waitFor();
    await page.getByRole("button", { name: "Delete the workflow" }).click();
    await page.getByRole("dialog").getByLabel("Type New name to confirm").fill("New name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Workflows" }).waitFor();
  });
});
