import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { counter, ticker, waiter } from "./support/components.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { mainOf, processesOf } from "../support/process-tree.ts";

interface Created {
  readonly data: {
    readonly id: string;
    readonly configured_props: { readonly http?: { readonly endpoint_url: string } };
  };
}
interface Counted {
  readonly n: number;
  readonly request?: string;
  readonly timestamp?: number;
}

let directory: TemporaryDirectory;
let data: string;
let ports: { readonly api: number; readonly ingress: number };
let headwater: Headwater;
let counting: { readonly id: string; readonly endpoint: string };
let ticking: string;

const start = async (): Promise<Headwater> => startHeadwater({ dataDirectory: data, ports, env: { HEADWATER_RUN_TIMEOUT: "3600" } });
const post = (request: string, takesMs = 0): Promise<number> =>
  fetch(counting.endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ request, takesMs }),
  }).then(
    ({ status }) => status,
    () => 0,
  );

/** Newest first. */
async function eventsOf(id: string): Promise<readonly Counted[]> {
  const { body, status } = await headwater.call<{ data: { event: Counted }[] }>(
    "GET",
    `/sources/${id}/event_summaries?limit=100&expand=event`,
  );
  return status === 200 ? body.data.map(({ event }) => event) : [];
}

async function deploy(code: string, props: object = {}): Promise<Created["data"]> {
  const { status, body, text } = await headwater.call<Created>("POST", "/sources", {
    component_code: code,
    configured_props: props,
  });
  expect(status, text).toBe(200);
  return body.data;
}

/** The next start responds, ticks again, and has kept its counts. */
async function expectGoesOn(request: string): Promise<void> {
  expect(await post(request)).toBe(200);
  await until(async () => (await eventsOf(counting.id)).some((event) => event.request === request), `${request} is run`, {
    more: headwater.output,
  });
  const before = (await eventsOf(ticking)).length;
  await until(async () => (await eventsOf(ticking)).length > before, "it ticks again", { more: headwater.output });
  for (const id of [counting.id, ticking]) {
    const counts = (await eventsOf(id)).map(({ n }) => n);
    expect(counts).toEqual(counts.map((_, index) => (counts[0] ?? 0) - index));
  }
}

const everythingEnds = (): Promise<void> =>
  until(() => processesOf(data).length === 0, "every process ends", { more: () => JSON.stringify(processesOf(data), null, 1) });

beforeAll(async () => {
  directory = await temporaryDirectory("ends");
  data = join(directory.path, "data");
  ports = { api: await steadyPort(), ingress: await steadyPort() };
  headwater = await start();
  const created = await deploy(counter);
  counting = { id: created.id, endpoint: created.configured_props.http?.endpoint_url ?? "" };
  ticking = (await deploy(ticker, { timer: { intervalSeconds: 1 } })).id;
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await everythingEnds();
  await directory.remove();
});

/** Responds to requests only after its release, so that a test decides how long a run takes. */
async function startGate(): Promise<{ readonly url: string; waiting(): number; release(): void; close(): void }> {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const server: Server = createServer((_, response) => void (isOpen ? response.end() : held.push(response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // Listening on TCP.
    waiting: () => held.length,
    release: () => {
      isOpen = true;
      for (const response of held.splice(0)) response.end();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("Ctrl-C", () => {
  it("lets a short run commit, requeues a run that does not end, and leaves no process running", async () => {
    const gate = await startGate();
    const second = await deploy(waiter);
    const endpoint = second.configured_props.http?.endpoint_url ?? "";
    const long = JSON.stringify({ request: "long", url: gate.url });
    expect((await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: long })).status).toBe(200);
    await until(() => gate.waiting() === 1, "the long run has begun");
    expect(await post("short", 1_000)).toBe(200);
    // The gate stays closed: the shutdown does not wait for the long run.
    expect(await headwater.stop(), headwater.output()).toBe(0);
    await everythingEnds();

    gate.release();
    headwater = await start();
    await until(
      async () => (await eventsOf(counting.id)).filter(({ request }) => request === "short").length === 1,
      "the short run is stored",
    );
    await expectGoesOn("after Ctrl-C");
    expect((await eventsOf(counting.id)).filter(({ request }) => request === "short")).toHaveLength(1);
    await until(async () => (await eventsOf(second.id)).length > 0, "the long run is repeated");
    expect(await eventsOf(second.id)).toEqual([{ n: 1, request: "long" }]);
    expect((await headwater.call("DELETE", `/sources/${second.id}`)).status).toBe(204);
    gate.close();
  });

  it("pressed twice, ends every process without waiting for a run", async () => {
    expect(await post("cut", 3_000_000)).toBe(200);
    const main = mainOf(data);
    process.kill(main, "SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 600)); // A second signal within 500 ms counts as the same press.
    process.kill(main, "SIGINT");
    await everythingEnds(); // The run takes longer than this wait.
    await headwater.stop();
    await replaceBlockedSource();
  });
});

/** The interrupted run takes an hour: replaces its source, so that later tests do not wait for it. */
async function replaceBlockedSource(): Promise<void> {
  headwater = await start();
  expect((await headwater.call("DELETE", `/sources/${counting.id}`)).status).toBe(204);
  const created = await deploy(counter);
  counting = { id: created.id, endpoint: created.configured_props.http?.endpoint_url ?? "" };
  await expectGoesOn("after two presses");
}

describe("kill -9", () => {
  it("of main alone ends roles and servers, and the next start continues", async () => {
    expect(await post("before main")).toBe(200);
    process.kill(mainOf(data), "SIGKILL");
    await headwater.stop();
    await everythingEnds();
    headwater = await start();
    await expectGoesOn("after main");
    expect((await eventsOf(counting.id)).some(({ request }) => request === "before main")).toBe(true);
  });

  it("of main, followed by a start at once: the new start waits for the old roles and continues", async () => {
    process.kill(mainOf(data), "SIGKILL");
    await headwater.stop();
    headwater = await start();
    await expectGoesOn("at once");
  });

  it("of the launcher makes main stop gracefully, and every process ends", async () => {
    expect(await post("before launcher")).toBe(200);
    await headwater.kill();
    await everythingEnds();
    headwater = await start();
    await expectGoesOn("after launcher");
    expect((await eventsOf(counting.id)).some(({ request }) => request === "before launcher")).toBe(true);
  });

  it("of a role ends its child processes, even one in an endless loop, and main starts the role again", async () => {
    const looping = await deploy(`export default { name: "Loop", props: { http: "$.interface.http" }, run() { for (;;); } };`);
    expect((await fetch(looping.configured_props.http?.endpoint_url ?? "")).status).toBe(200);
    const [runner] = processesOf(data).filter(({ pid }) => roleOf(pid) === "runner");
    if (runner === undefined) throw new Error(`no runner among ${JSON.stringify(processesOf(data))}`);
    const descendants = (): readonly number[] =>
      processesOf(data)
        .filter(({ parent }) => parent === runner.pid)
        .map(({ pid }) => pid);
    await until(() => descendants().length > 0, "the runner has children");
    const children = descendants();
    killed(runner.pid);
    await until(() => processesOf(data).every(({ pid }) => pid !== runner.pid && !children.includes(pid)), "its processes end", {
      more: () => JSON.stringify(processesOf(data), null, 1),
    });
    await until(() => processesOf(data).some(({ pid }) => roleOf(pid) === "runner"), "a new runner has started");
    expect((await headwater.call("DELETE", `/sources/${looping.id}`)).status).toBe(204);
    await expectGoesOn("after the role");
  });

  it("of every process leaves stale locks and pid files, which the next start ignores", async () => {
    expect(await post("before all")).toBe(200);
    for (const { pid } of processesOf(data)) killed(pid);
    await everythingEnds();
    expect(readFileSync(join(data, "postgres", "data", "postmaster.pid"), "utf8")).not.toBe("");
    headwater = await start();
    await expectGoesOn("after all");
    expect((await eventsOf(counting.id)).some(({ request }) => request === "before all")).toBe(true);
  });

  it.each(["nats-server", "postgres"])("of %s makes main start it again, and no accepted request is lost", async (server) => {
    const accepted: string[] = [];
    const statuses = new Set<number>();
    const send = async (n: number): Promise<void> => {
      const status = await post(`${server} ${n}`);
      statuses.add(status);
      if (status === 200) accepted.push(`${server} ${n}`);
    };
    await send(0);
    const main = mainOf(data);
    const [victim] = processesOf(data).filter(({ parent, command }) => parent === main && command.includes(`/${server} `));
    if (victim === undefined) throw new Error(`${server} does not run: ${JSON.stringify(processesOf(data))}`);
    killed(victim.pid);
    for (let n = 1; n <= 40; n++) {
      await send(n);
      await new Promise((resolve) => setTimeout(resolve, 50)); // Requests at a steady rate during the restart.
    }
    await until(async () => (await post(`${server} up`)) === 200, "requests are accepted again");
    await until(
      async () => {
        const seen = new Set((await eventsOf(counting.id)).map(({ request }) => request));
        return accepted.every((request) => seen.has(request));
      },
      "each accepted request has run",
      { more: () => JSON.stringify([...statuses]) },
    );
    expect([...statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
    await expectGoesOn(`after ${server}`);
  });
});

function roleOf(pid: number): string | undefined {
  try {
    return /HEADWATER_ROLES=(\w+)/.exec(readFileSync(`/proc/${pid}/environ`, "utf8"))?.[1];
  } catch {
    return undefined; // It ended in between.
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended together with another process.
  }
}

describe("timers", () => {
  it("tick once for each time that was due while the runner was down, and continue", async () => {
    const runner = processesOf(data).filter(({ pid, command }) => command.includes("main.ts") && roleOf(pid) === "runner");
    if (runner[0] === undefined) throw new Error(`no runner among ${JSON.stringify(processesOf(data))}`);
    const { pid } = runner[0];
    const stoppedAt = Math.floor(Date.now() / 1_000);
    process.kill(pid, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 5_000)); // The condition under test: 5 s without a runner.
    process.kill(pid, "SIGKILL");
    await expectGoesOn("after the runner");
    const since = (await eventsOf(ticking)).map(({ timestamp = 0 }) => timestamp).filter((timestamp) => timestamp >= stoppedAt);
    // One tick each second; the first and the last second may count twice.
    expect(since.length, JSON.stringify(since)).toBeLessThanOrEqual(Math.max(...since) - stoppedAt + 2);
  });

  it("of a source slower than its interval skip ticks, log the skips, and do not fall behind", async () => {
    const { id } = await deploy(ticker, { timer: { intervalSeconds: 1 }, takesMs: 2_500 });
    await until(async () => (await eventsOf(id)).length >= 4, "four slow ticks");
    const [newest, ...older] = await eventsOf(id);
    const oldest = older.at(-1);
    // Without skipping, four ticks of one second would span three seconds.
    expect((newest?.timestamp ?? 0) - (oldest?.timestamp ?? 0)).toBeGreaterThan(older.length);
    const logs = await headwater.call<unknown>("GET", `/sources/${id}/logs?limit=100`);
    expect(logs.text).toMatch(/ticks? (was|were) skipped/);
    expect((await headwater.call("DELETE", `/sources/${id}`)).status).toBe(204);
  });

  it("accept a cron expression in a time zone with daylight saving time", async () => {
    const created = await headwater.call<{
      data: { id: string; active: boolean; configured_props: { timer: object } };
    }>("POST", "/sources", {
      component_code: ticker,
      configured_props: { timer: { cron: "* * * * *", timezone: "Europe/Berlin" } },
    });
    expect(created.status, created.text).toBe(200);
    expect(created.body.data).toMatchObject({
      active: true,
      configured_props: { timer: { cron: "* * * * *", timezone: "Europe/Berlin" } },
    });
    expect((await headwater.call("DELETE", `/sources/${created.body.data.id}`)).status).toBe(204);
  });
});
