import { readFile } from "node:fs/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startHeadwater, type Headwater } from "../../support/system/headwater.ts";
import type { Client } from "../../support/system/client.ts";
import { withSystem, type SharedSystem } from "../../support/system/system.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { axeViolations, chromiumPath, openTab, startBrowser, type Tab } from "./browser.ts";

export interface ConsoleWorld<User extends Client = SharedSystem> {
  /** The user who is signed in. */
  readonly user: User;
  /** Address of the console. */
  readonly url: string;
  /** Opens a page of the console in a new tab; signed in, unless said otherwise. */
  open(path: string, options?: { readonly isSignedOut?: boolean; readonly width?: number }): Promise<Page>;
  /** A call of the REST API with the user's key. @throws for an error response */
  api<T = never>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface OwnConsoleWorld extends ConsoleWorld<Headwater> {
  /** Restarts Headwater on the same ports and data. */
  restart(): Promise<void>;
}

/** Hidden in everything that users name: it must appear as text. */
export const hostileText = `<img src=x onerror="globalThis.hacked=true">\u202Egnp.exe`;

/** A browser, and a user of the shared system. After each test, its tabs must have reported no error, and no hostile text may have run. */
export function withConsole(): ConsoleWorld {
  if (chromiumPath === undefined) return undefined as never; // The file skips its tests.
  const system = withSystem();
  return withBrowser(() => system);
}

/** The console of a system of its own, whose output is a terminal: only there the start prints a link that signs in. @param envOf further settings, until the first restart */
export function withOwnConsole(envOf: () => Promise<Readonly<Record<string, string>>> = async () => ({})): OwnConsoleWorld {
  if (chromiumPath === undefined) return undefined as never; // The file skips its tests.
  let directory: TemporaryDirectory;
  let headwater: Headwater;
  beforeAll(async () => {
    directory = await temporaryDirectory("console");
    headwater = await startHeadwater({ dataDirectory: directory.path, isInTerminal: true, env: await envOf() });
  });
  afterAll(async () => {
    await headwater?.stop();
    await directory?.remove();
  });
  const restart = async (): Promise<void> => {
    await headwater.stop();
    const portOf = (address: string): number => Number(new URL(address).port);
    const ports = { api: portOf(headwater.apiUrl), ingress: portOf(headwater.ingressUrl) };
    headwater = await startHeadwater({ dataDirectory: directory.path, ports, isInTerminal: true });
  };
  return Object.assign(
    withBrowser(() => headwater),
    { restart },
  );
}

function withBrowser<User extends Client>(userOf: () => User): ConsoleWorld<User> {
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  let tabs: Tab[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterEach(async () => {
    const errors = tabs.flatMap((tab) => tab.errors);
    const hacked = await Promise.all(tabs.map(({ page }) => page.evaluate(() => "hacked" in globalThis).catch(() => false)));
    for (const context of contexts) await context.close();
    [contexts, tabs] = [[], []];
    expect(errors).toEqual([]);
    expect(hacked).not.toContain(true);
  });
  afterAll(() => browser?.close());
  const url = (): string => userOf().apiUrl.replace(/\/v1$/, "");
  const signIn = async (context: BrowserContext): Promise<void> => {
    const signedIn = await context.request.post(`${url()}/console/session`, { data: { api_key: userOf().key } });
    expect(signedIn.status()).toBe(200);
    const { data } = (await signedIn.json()) as { readonly data: { readonly csrf_token: string } };
    await context.addInitScript(`localStorage.setItem("headwater.session", ${JSON.stringify(data.csrf_token)})`);
  };
  return {
    get user() {
      return userOf();
    },
    get url() {
      return url();
    },
    open: async (path, { isSignedOut = false, width = 1_280 } = {}) => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: "light", reducedMotion: "reduce" });
      contexts.push(context);
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      if (!isSignedOut) await signIn(context);
      const tab = await openTab(context);
      tabs.push(tab);
      await tab.page.goto(url() + path);
      return tab.page;
    },
    api: async (method, path, body) => {
      const { status, text, body: parsed } = await userOf().call<{ readonly data: never }>(method, path, body);
      if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`);
      return parsed?.data;
    },
  };
}

/** Opens a page of operators, and unlocks it by the admin token. */
export async function openAsOperator(world: ConsoleWorld, path: string): Promise<Page> {
  const page = await world.open(path);
  await page.getByLabel(/^Admin token/).fill(await readFile(world.user.adminTokenFile, "utf8"));
  await page.getByRole("button", { name: "Continue" }).click();
  return page;
}

/** No rule of accessibility is broken, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-theme="${theme}"]`).waitFor({ state: "attached" });
    expect(await axeViolations(page)).toEqual([]);
  }
}
