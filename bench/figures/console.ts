import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { request } from "undici";
import type { Figure } from "../figure.ts";
import { startBrowser } from "../harness/measure/browser.ts";
import { startListed } from "../harness/load/listed.ts";
import { percentile } from "../harness/measure/statistics.ts";
import { allRoles, startSystem } from "../harness/system.ts";

/**
 * The web console in headless Chromium, which paints without a GPU: its build, the first load of Home, a list of 10,000 sources, and a live
 * tail of 200 and of 1,000 events a second.
 */
const root = join(import.meta.dirname, "..", "..");
const dist = join(root, "console", "dist");
const slowdown = 4;
const listedSources = 10_000;
const [scrollSteps, scrollPixels] = [240, 200];
const longFrameMs = 50;

export async function run({ seconds = 60 }: { readonly seconds?: number | undefined }): Promise<readonly Figure[]> {
  const built = build();
  const browser = await startBrowser();
  try {
    return [
      ...built,
      ...(await firstLoad(browser)),
      ...(await longList(browser)),
      ...(await tail(browser, 200, seconds)),
      ...(await tail(browser, 1_000, 10)),
    ];
  } finally {
    await browser.close();
  }
}

function build(): readonly Figure[] {
  rmSync(dist, { recursive: true, force: true });
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "console.ts")], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the console could not be built: ${stderr}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  const sizes = readdirSync(dist, { recursive: true, encoding: "utf8" }).map((name) => statSync(join(dist, name)).size);
  return [
    { name: "console: build", value: seconds, unit: "s", goal: { of: "value", atMost: 10 } },
    { name: "console: built files", value: sizes.reduce((sum, size) => sum + size, 0) / 1e6, unit: "MB", goal: { of: "value", atMost: 5 } },
  ];
}

async function firstLoad(browser: Browser): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  const context = await signedIn(browser, system.apiUrl, await system.key());
  try {
    const page = await context.newPage();
    const urls: string[] = [];
    page.on("requestfinished", (finished) => urls.push(new URL(finished.url()).pathname));
    const client = await context.newCDPSession(page);
    await client.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.goto(originOf(system.apiUrl), { waitUntil: "commit" });
    await page.getByRole("link", { name: "Write code" }).waitFor();
    const usableMs = await page.evaluate<number>("performance.now()");
    await page.waitForLoadState("networkidle");
    const files = urls.filter((path) => path === "/" || path.startsWith("/assets/"));
    const bytes = files.map((path) => gzipSync(readFileSync(join(dist, path === "/" ? "index.html" : path)), { level: 9 }).length);
    return [
      {
        name: "console: first load of Home, gzip",
        value: bytes.reduce((sum, size) => sum + size, 0) / 1_000,
        unit: "kB",
        goal: { of: "value", atMost: 160 },
      },
      {
        name: "console: requests of the first load",
        value: urls.length,
        unit: "requests",
        goal: { of: "value", atMost: 8 },
        note: urls.join(" "),
      },
      { name: `console: usable, CPU slowed ${slowdown} times`, value: usableMs, unit: "ms", goal: { of: "value", atMost: 1_500 } },
    ];
  } finally {
    await context.close();
    await system.stop();
  }
}

async function longList(browser: Browser): Promise<readonly Figure[]> {
  const { system, keys } = await startListed(listedSources, 0);
  const context = await signedIn(browser, system.apiUrl, keys[0] ?? "");
  try {
    const page = await context.newPage();
    await page.goto(`${originOf(system.apiUrl)}/profile`);
    await page.getByRole("heading", { name: "Profile" }).waitFor();
    // By the clock of the page: requests of the test to the browser would count otherwise.
    const rowsMs = await page.evaluate<number>(`new Promise((resolve) => {
      const startedAt = performance.now();
      new MutationObserver((_records, observer) => {
        if (document.querySelector("tbody tr") === null) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - startedAt));
      }).observe(document.body, { childList: true, subtree: true });
      document.querySelector('nav a[href="/sources"]').click();
    })`);
    const longFrames = await page.evaluate<number>(`new Promise((resolve) => {
      const scroller = document.querySelector("tbody").closest("div");
      let [last, long, step] = [performance.now(), 0, 0];
      const frame = (now) => {
        if (now - last > ${longFrameMs}) long++;
        last = now;
        if (step++ === ${scrollSteps}) return resolve(long);
        scroller.scrollBy(0, ${scrollPixels});
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    })`);
    return [
      { name: "console: first rows of 10,000 sources", value: rowsMs, unit: "ms", goal: { of: "value", atMost: 300 } },
      {
        name: "console: frames over 50 ms while scrolling",
        value: longFrames,
        unit: "frames",
        goal: { of: "value", atMost: 0 },
        note: `${scrollSteps} steps of ${scrollPixels} px`,
      },
    ];
  } finally {
    await context.close();
    await system.stop();
  }
}

/** Emits the time of each request, so that the page knows how late it shows it. */
const emitter = `export default {
  name: "Tail",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run(event) {
    this.$emit({ at: event.body.at }, { summary: String(event.body.at) });
    this.http.respond({ status: 200 });
  },
};`;

async function tail(browser: Browser, perSecond: number, seconds: number): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles });
  const key = await system.key();
  const context = await signedIn(browser, system.apiUrl, key);
  try {
    const { id, endpoint } = await deploy(system.apiUrl, key);
    const page = await context.newPage();
    await page.goto(`${originOf(system.apiUrl)}/sources/${id}`);
    await page.getByText("Live", { exact: true }).waitFor();
    const client = await context.newCDPSession(page);
    await send(endpoint, perSecond, 5); // The tail is full, and the code compiled.
    const before = await heapMb(client);
    await watchLateness(page);
    await send(endpoint, perSecond, seconds);
    const lateness = await page.evaluate<number[]>("globalThis.lateness");
    const growth = (await heapMb(client)) - before;
    const name = `console: tail of ${perSecond} events/s`;
    const p95 = percentile(lateness, 0.95);
    const note = `${lateness.length} events were seen; p50 ${percentile(lateness, 0.5).toFixed(0)} ms; from the request that emits it`;
    return [
      {
        name: `${name}, emitted to visible, p95`,
        value: p95,
        unit: "ms",
        note,
        ...(perSecond === 200 ? { goal: { of: "value", atMost: 150 } } : {}),
      },
      { name: `${name} for ${seconds} s, growth of memory`, value: growth, unit: "MB", goal: { of: "value", atMost: 20 } },
    ];
  } finally {
    await context.close();
    await system.stop();
  }
}

/** Records for each event how long after its emission a row shows it. */
const watchLateness = (page: Page): Promise<void> =>
  page.evaluate(`{
    globalThis.lateness = [];
    let newest = Date.now();
    new MutationObserver(() => {
      const now = Date.now();
      const times = [...document.querySelectorAll("tbody button")].map((button) => Number(button.textContent)).filter((at) => at > newest);
      for (const at of times) globalThis.lateness.push(now - at);
      newest = Math.max(newest, ...times);
    }).observe(document.querySelector("tbody"), { childList: true, subtree: true, characterData: true });
  }`);

async function deploy(apiUrl: string, key: string): Promise<{ readonly id: string; readonly endpoint: string }> {
  const { body } = await request(`${apiUrl}/sources`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ component_code: emitter }),
  });
  const { data } = (await body.json()) as {
    readonly data: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
  }; // The response of POST /sources.
  return { id: data.id, endpoint: data.configured_props.http.endpoint_url };
}

/** Sends requests at an even rate. */
async function send(endpoint: string, perSecond: number, seconds: number): Promise<void> {
  const pending = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let sent = 0; sent < perSecond * seconds;) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due; sent++) {
      const posting = post(endpoint).finally(() => pending.delete(posting));
      pending.add(posting);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(pending);
}

async function post(endpoint: string): Promise<void> {
  const { body } = await request(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ at: Date.now() }),
  });
  await body.dump();
}

const originOf = (apiUrl: string): string => apiUrl.replace(/\/v1$/, "");

async function signedIn(browser: Browser, apiUrl: string, key: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const response = await context.request.post(`${originOf(apiUrl)}/console/session`, { data: { api_key: key } });
  const { data } = (await response.json()) as { readonly data: { readonly csrf_token: string } };
  await context.addInitScript(`localStorage.setItem("headwater.session", ${JSON.stringify(data.csrf_token)})`);
  return context;
}

/** Live memory of the page's scripts, after garbage collection. */
async function heapMb(client: CDPSession): Promise<number> {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}
