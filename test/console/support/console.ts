import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startHeadwater, type Headwater, type HeadwaterOptions } from "../../e2e/support/headwater.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { axeViolations, chromiumPath, openTab, startBrowser, type Tab } from "./browser.ts";

export interface ConsoleWorld {
  readonly headwater: Headwater;
  readonly browser: Browser;
  /** Address of the console. */
  readonly url: string;
  /** Opens a page of the console in a new tab; signed in, unless said otherwise. */
  open(
    path: string,
    options?: { readonly isSignedOut?: boolean; readonly theme?: "light" | "dark"; readonly width?: number },
  ): Promise<Page>;
  /** A call of the REST API with the first user's key. @throws for an error response */
  api<T = never>(method: string, path: string, body?: unknown): Promise<T>;
  /** Restarts Headwater on the same ports and data. */
  restart(): Promise<void>;
}

/** Hidden in everything that users name: it must appear as text. */
export const hostileText = `<img src=x onerror="globalThis.hacked=true">\u202Egnp.exe`;

/**
 * The whole system as `npm start` starts it, and a browser. After each test, its tabs must have reported no error, and no hostile text may
 * have run.
 */
export function withConsole(options: Partial<HeadwaterOptions> = {}): ConsoleWorld {
  let directory: TemporaryDirectory;
  let headwater: Headwater;
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  let tabs: Tab[] = [];
  if (chromiumPath === undefined) return undefined as never; // The file skips its tests.
  beforeAll(async () => {
    directory = await temporaryDirectory("console");
    [headwater, browser] = await Promise.all([startHeadwater({ dataDirectory: directory.path, ...options }), startBrowser()]);
  });
  afterEach(async () => {
    const errors = tabs.flatMap((tab) => tab.errors);
    const hacked = await Promise.all(tabs.map(({ page }) => page.evaluate(() => "hacked" in globalThis).catch(() => false)));
    for (const context of contexts) await context.close();
    [contexts, tabs] = [[], []];
    expect(errors).toEqual([]);
    expect(hacked).not.toContain(true);
  });
  afterAll(async () => {
    await browser?.close();
    await headwater?.stop();
    await directory?.remove();
  });
  const url = (): string => headwater.apiUrl.replace(/\/v1$/, "");
  return {
    get headwater() {
      return headwater;
    },
    get browser() {
      return browser;
    },
    get url() {
      return url();
    },
    open: async (path, { isSignedOut = false, theme = "light", width = 1_280 } = {}) => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme, reducedMotion: "reduce" });
      contexts.push(context);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      if (!isSignedOut) {
        const signedIn = await context.request.post(`${url()}/console/session`, { data: { api_key: headwater.key } });
        expect(signedIn.status()).toBe(200);
        const { data } = (await signedIn.json()) as { readonly data: { readonly csrf_token: string } };
        await context.addInitScript(`localStorage.setItem("headwater.session", ${JSON.stringify(data.csrf_token)})`);
      }
      const tab = await openTab(context);
      tabs.push(tab);
      await tab.page.goto(url() + path);
      return tab.page;
    },
    api: async (method, path, body) => {
      const { status, text, body: parsed } = await headwater.call<{ readonly data: never }>(method, path, body);
      if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`);
      return parsed?.data;
    },
    restart: async () => {
      await headwater.stop();
      const portOf = (address: string): number => Number(new URL(address).port);
      const ports = { api: portOf(headwater.apiUrl), ingress: portOf(headwater.ingressUrl) };
      headwater = await startHeadwater({ dataDirectory: directory.path, ports, ...options });
    },
  };
}

/** No rule of accessibility is broken, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-theme="${theme}"]`).waitFor({ state: "attached" });
    expect(await axeViolations(page)).toEqual([]);
  }
}
