import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { pause } from "../../domain/retry.ts";
import { chart } from "../support/helm.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { prometheusMissing, startPrometheus, type Prometheus } from "./support/prometheus.ts";

/**
 * A real Prometheus scrapes each role of an installation under load. Method: the load runs first without failures, then with webhooks that
 * fail and a runner that stands still. Windows of the rules are divided so that a test can wait for them; test/charts/alert-rules.test.ts
 * evaluates them as they are.
 */
const suite = prometheusMissing === undefined ? describe : describe.skip;
const roles = ["api", "ingress", "operator", "builder", "runner", "delivery"] as const;

const dashboardSchema = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
});
const { panels } = dashboardSchema.parse(JSON.parse(readFileSync(join(chart, "files/dashboard.json"), "utf8")));
const shortRange = "[20s]";
const expressions = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll("$job", ".*").replaceAll(/\[[^\]]+\]/g, shortRange) })),
);
const rules = readFileSync(join(chart, "files/alerts.yaml"), "utf8")
  .replaceAll("$namespace", "headwater")
  .replaceAll(/\[\d+[mh]\]/g, shortRange)
  .replaceAll(/for: \d+m/g, "for: 3s");

/** Metrics without a series in this installation, with the reason. */
const absent: Readonly<Record<string, string>> = {
  headwater_pool_backlog: "only an operator that runs pods counts it",
  headwater_mirror_lag_seconds: "only an operator in a cluster mirrors resources",
  headwater_mails_total: "no mail server is configured",
  headwater_mail_suppressed_errors_total: "no mail server is configured",
  'status=~"5.."': "no request fails: a ratio without failures is empty",
  headwater_controller_reconcile_errors_total: "no reconciliation fails",
};
const isAbsent = (expr: string): boolean => Object.keys(absent).some((part) => expr.includes(part));

const answering = `
export default {
  name: "Answering",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ body }) { this.$emit({ n: body?.n ?? 0 }); this.http.respond({ status: 200, body: "ok" }); },
};`;
const accepting = `
export default {
  name: "Accepting",
  props: { http: "$.interface.http" },
  async run() {},
};`;
const ticking = `
export default {
  name: "Ticking",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
  async run() { this.$emit({ tick: true }); },
};`;
const listening = `export default { name: "Listening", async run() {} };`;

interface WithEndpoint {
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

let cluster: Cluster;
let prometheus: Prometheus;
let receiver: Receiver;
let status = 200;
let [endpoint, busyEndpoint, timer] = ["", "", ""];
let sent = 0;
let gone: Receiver | undefined;
const directory = await temporaryDirectory("observed");
const adminTokenFile = join(directory.path, "admin-token");
const adminToken = randomBytes(32).toString("hex");
const loading = new AbortController();
let load: Promise<void> = Promise.resolve();

async function create<T extends object = object>(path: string, body: object): Promise<T & { readonly id: string }> {
  const { status: code, body: answer, text } = await cluster.call<{ data: T & { id: string } }>("POST", path, body);
  expect(code, text).toBe(200);
  return answer.data;
}

/** Requests to an endpoint and to the API, at most 20 a second, until the signal aborts. */
async function sendRequests(signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; sent++) {
    await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ n: sent }) }).then(
      (response) => response.text(),
    );
    if (sent % 5 === 0) await cluster.call("GET", "/users/me/sources");
    await pause(50, signal);
  }
}

/** Gives the plan of all owners this quota; null: none. */
async function setQuota(dailyInvocations: number | null): Promise<void> {
  const response = await fetch(new URL("/admin/v1/plans/default", cluster.apiUrl), {
    method: "PUT",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ form: "free", daily_invocations_quota: dailyInvocations }),
  });
  expect(response.status, await response.text()).toBe(200);
}

/** The alerts that fire once all expected ones do, or at the deadline. */
async function firingOnce(expected: readonly string[]): Promise<readonly string[]> {
  let firing: readonly string[] = [];
  const fire = async (): Promise<boolean> => {
    firing = await prometheus.firing();
    return expected.every((alert) => firing.includes(alert));
  };
  await until(fire, "the alerts fire").catch(() => undefined);
  return firing;
}

suite(`alerts and dashboard${prometheusMissing === undefined ? "" : ` (skipped: ${prometheusMissing})`}`, () => {
  beforeAll(async () => {
    receiver = await startReceiver(() => status);
    const ports = await Promise.all(roles.map(async (role) => [role, `127.0.0.1:${await steadyPort()}`] as const));
    const envOf = Object.fromEntries(ports.map(([role, address]) => [role, { HEADWATER_HEALTH_LISTEN: address }]));
    await writeFile(adminTokenFile, adminToken, { mode: 0o600 });
    cluster = await startCluster(directory.path, { envOf, env: { HEADWATER_ADMIN_TOKEN_FILE: adminTokenFile } });
    prometheus = await startPrometheus({ directory: join(directory.path, "prometheus"), targets: Object.fromEntries(ports), rules });
    const http = await create<WithEndpoint>("/sources", { component_code: answering });
    endpoint = http.configured_props.http.endpoint_url;
    timer = (await create("/sources", { component_code: ticking })).id;
    const listener = await create("/sources", { component_code: listening });
    const webhook = await create("/webhooks", { url: receiver.url });
    for (const to of [webhook, listener]) await create("/subscriptions", { emitter_id: timer, listener_id: to.id });
    const other = await create<WithEndpoint>("/sources", { component_code: accepting });
    busyEndpoint = other.configured_props.http.endpoint_url;
    load = sendRequests(loading.signal);
  });
  afterAll(async () => {
    loading.abort();
    await load.catch(() => undefined);
    await prometheus?.stop();
    await cluster?.stop();
    await Promise.all([receiver?.close(), gone?.close()]);
    await directory.remove();
  });

  test("each panel has data, and no alert fires, while all is well", async () => {
    const empty = async (): Promise<readonly string[]> => {
      const results = await Promise.all(
        expressions.map(async ({ title, expr }) => ((await prometheus.query(expr)).length === 0 ? [`${title}: ${expr}`] : [])),
      );
      return results.flat().filter((line) => !isAbsent(line));
    };
    let missing = await empty();
    await until(async () => (missing = await empty()).length === 0, "each panel has data").catch(() => undefined);
    expect(missing).toEqual([]);
    expect(await prometheus.firing()).toEqual([]);
  });

  test("panels without data are those of this list", async () => {
    const results = await Promise.all(
      Object.keys(absent).map(async (part) => {
        const asked = expressions.filter(({ expr }) => expr.includes(part));
        const found = await Promise.all(asked.map(({ expr }) => prometheus.query(expr)));
        return [asked.length > 0, found.some((values) => values.every((value) => value === 0))];
      }),
    );
    expect(results).toEqual(results.map(() => [true, true]));
  });

  test("requests that a quota holds back do not count as late once they run", async () => {
    const valueOf = async (expr: string): Promise<number> => (await prometheus.query(expr))[0] ?? 0;
    const late = 'sum(headwater_invocation_wait_seconds_count) - sum(headwater_invocation_wait_seconds_bucket{le=~"5(.0)?"})';
    const parked = 'sum(headwater_runs_parked{reason="owner_quota"})';
    onTestFinished(() => setQuota(null));
    await setQuota(1);
    await until(async () => (await valueOf(parked)) > 0, "the owner's work is parked");
    const lateBefore = await valueOf(late);
    const held = 40;
    // Only an operator that runs pods counts the backlog, so the alert itself cannot fire here.
    const [, isHeldBack = ""] =
      /alert: HeadwaterPoolStuck\n\s+expr: .+? unless (\(\(sum by \(pool\) \(headwater_runs_parked.+)\n/.exec(rules) ?? [];
    await until(async () => (await prometheus.query(isHeldBack)).length === 1, "the pool is not stuck by the rule of its alert");
    for (let n = 0; n < held; n++) expect((await fetch(busyEndpoint, { method: "POST" })).status).toBe(200);
    const heldSince = performance.now();
    await until(() => Promise.resolve(performance.now() - heldSince > 6_000), "the requests would be late");
    const runs = "sum(headwater_runs_total)";
    const runsBefore = await valueOf(runs);
    await setQuota(null);
    const left = `${parked} + sum(headwater_runs_waiting)`;
    await until(async () => (await valueOf(runs)) >= runsBefore + held && (await valueOf(left)) === 0, "the requests have run");
    expect((await valueOf(late)) - lateBefore).toBeLessThan(held / 2);
    const firing = await prometheus.firing();
    expect(firing.filter((alert) => alert.startsWith("HeadwaterRuns"))).toEqual([]);
  });

  test("a webhook that fails raises its alert, and no other", async () => {
    status = 500;
    expect(await firingOnce(["HeadwaterDeliveriesFail"])).toEqual(["HeadwaterDeliveriesFail"]);
  });

  test("an endpoint that is gone raises the alert of dead letters", async () => {
    gone = await startReceiver(() => 410);
    const webhook = await create("/webhooks", { url: gone.url });
    await create("/subscriptions", { emitter_id: timer, listener_id: webhook.id });
    expect(await firingOnce(["HeadwaterDeadLetters"])).toContain("HeadwaterDeadLetters");
  });

  test("a runner that stands still raises the alerts of late invocations", async () => {
    const expected = ["HeadwaterRunsLateFast", "HeadwaterRunsLateSlow"];
    const stalled = cluster.stall("runner", 9_000);
    // A third of all requests so far is late, however fast the machine was.
    const requests = Array.from({ length: Math.ceil(sent / 2) }, () =>
      fetch(busyEndpoint, { method: "POST" }).then((response) => response.text()),
    );
    await Promise.all([stalled, ...requests]);
    expect(await firingOnce(expected)).toEqual(expect.arrayContaining(expected));
  });
});
