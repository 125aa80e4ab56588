import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { expect } from "vitest";
import { findProgram } from "../../support/on-path.ts";

/** Path of an installed Chromium; undefined: tests in a browser are skipped. */
export const chromiumPath = findProgram(["chromium", "chromium-browser", "google-chrome"]);

/** Waits are limited by the test, not by the browser's 30 s: machines are slow at times. */
const timeoutMs = 150_000;
const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export async function startBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("no Chromium is installed: apt-get install chromium");
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export interface Tab {
  readonly page: Page;
  /** Errors of scripts, of the console, and violations of the Content-Security-Policy. */
  readonly errors: string[];
}

/** Opens a tab that records what goes wrong in it. */
export async function openTab(context: BrowserContext): Promise<Tab> {
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  page.setDefaultNavigationTimeout(timeoutMs);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error.stack ?? error)));
  page.on("console", (message) => {
    // Chromium reports each refused or failed request; the tests know of those.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
  return { page, errors };
}

/** Rules of accessibility that the page breaks, by axe. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  // The policy of the page refuses scripts of others, so axe is evaluated through the debugger.
  await page.evaluate(readFileSync(axeSource, "utf8"));
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
    };
    return (await axe.run()).violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
    );
  });
  return found;
}

/** Checks that nothing is wider than the window, at each width. */
export async function expectFitsWidths(page: Page, widths: readonly number[] = [60, 390, 1_280, 2_000]): Promise<void> {
  const size = page.viewportSize() ?? { width: 1_280, height: 800 };
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect([width, overflow]).toEqual([width, 0]);
  }
  await page.setViewportSize(size);
}

/** Replaces the text of a code editor as a person does who selects all and pastes. */
export async function writeCode(page: Page, code: string): Promise<void> {
  await page.getByRole("textbox", { name: "Code" }).focus();
  await page.keyboard.press("Control+A");
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(code)})`);
  await page.keyboard.press("Control+V");
}
