/**
 * Writes the data of a release for `a-release-upgrades.full.test.ts`:
 *
 *     node test/upgrade/capture-release.ts CHECKOUT MIGRATIONS
 *
 * CHECKOUT is a checkout of the release with its node_modules, MIGRATIONS the path of its module that exports `migrate`.
 * The release's own code writes everything. Its processes are killed while runs and deliveries are pending, as in a crash.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { processesOf } from "../support/process-tree.ts";
import { call } from "../support/system/client.ts";
import { until } from "../support/until.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { dumpOf } from "./dump.ts";
import * as release from "./release.ts";

const run = promisify(execFile);
const [checkout = "", migrations = ""] = process.argv.slice(2);
const adminToken = "admin-token-of-the-previous-release-0123456789";
const port = { api: await steadyPort(), ingress: await steadyPort() };
const apiUrl = `http://127.0.0.1:${port.api}/v1`;
const directory = await temporaryDirectory("release");
const data = join(directory.path, "data");

interface Created {
  readonly id: string;
  readonly key: string;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

async function startRelease(): Promise<string> {
  const adminTokenFile = join(directory.path, "admin-token");
  await writeFile(adminTokenFile, adminToken, { mode: 0o600 });
  const child = spawn(process.execPath, ["scripts/launch.mjs", "main.ts"], {
    cwd: checkout,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      ...release.settings,
      HEADWATER_DATA: data,
      HEADWATER_LISTEN: `127.0.0.1:${port.api}`,
      HEADWATER_INGRESS_LISTEN: `127.0.0.1:${port.ingress}`,
      HEADWATER_EGRESS_ALLOW: "127.0.0.0/8",
      HEADWATER_LOG_LEVEL: "warn",
      HEADWATER_ADMIN_TOKEN_FILE: adminTokenFile,
    },
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await until(() => output.includes("curl "), "the release starts");
  return (await readFile(join(data, "api-key"), "utf8")).trim();
}

/** Posts one request per number; the slow source's runs are still pending when this returns. */
async function post(url: string, requests: readonly number[], takesMs = 0): Promise<void> {
  for (const request of requests) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ request, takesMs }),
    });
    if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
  }
}

async function populate(key: string): Promise<release.Expectations> {
  const send = async (method: string, path: string, body?: unknown, as = key, base = apiUrl): Promise<Created> => {
    const { status, text, body: answer } = await call<{ data: Created }>(base, as, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} returned ${status} ${text}`);
    return answer.data;
  };
  const asAdmin = (path: string, body: object) => send("POST", path, body, adminToken, apiUrl.replace("/v1", "/admin/v1"));
  const goneEndpoint = createServer((_request, response) => response.writeHead(410).end());
  await new Promise<void>((done) => goneEndpoint.listen(0, "127.0.0.1", done));
  const { port: gonePort } = goneEndpoint.address() as AddressInfo; // Listens on TCP.

  const organization = await send("POST", "/orgs", { name: "Acme" });
  const member = await asAdmin("/users", { username: "mel", email: "mel@example.com" });
  const memberKey = await asAdmin(`/users/${member.id}/keys`, { name: "member" });
  await send("PUT", `/orgs/${organization.id}/members/${member.id}`, { role: "member" });
  const reader = await send("POST", "/users/me/keys", { name: "reader", scopes: ["read"] });

  const configured_props = { token: release.secretToken };
  const source = (name: string, code: string, more: object = {}) => send("POST", "/sources", { name, component_code: code, ...more });
  const counter = await source("counter", release.counter, { configured_props });
  const slow = await source("slow", release.counter, { org_id: organization.id });
  const relay = await source("relay", release.relay);
  const ticker = await source("ticker", release.ticker);
  const ordered = await send("POST", "/webhooks", { url: release.refusingUrl, ordered: true });
  const plain = await send("POST", "/webhooks", { url: release.refusingUrl });
  const gone = await send("POST", "/webhooks", { url: `http://127.0.0.1:${gonePort}/` });
  const pairs = [
    [counter, relay],
    [relay, ordered],
    [counter, plain],
    [counter, gone],
  ] as const;
  for (const [emitter, listener] of pairs) await send("POST", "/subscriptions", { emitter_id: emitter.id, listener_id: listener.id });

  const counted = [1, 2, 3, 4, 5];
  await post(counter.configured_props.http.endpoint_url, counted);
  const count = async (path: string): Promise<number> => {
    const { body } = await call<{ page_info: { total_count: number } }>(apiUrl, key, "GET", path);
    return body.page_info.total_count;
  };
  const eventsOf = (id: string) => `/sources/${id}/event_summaries?expand=event&limit=100`;
  await until(async () => (await count(eventsOf(relay.id))) === counted.length, "the relay's events are in the history");
  await until(async () => (await count(`/webhooks/${gone.id}/dead_letters`)) === counted.length, "dead letters are recorded");
  await until(async () => (await count(`/webhooks/${plain.id}/deliveries`)) >= counted.length, "attempts are recorded");
  await until(async () => (await count(`/webhooks/${ordered.id}/deliveries`)) > 0, "the ordered webhook's attempts are recorded");
  await until(async () => (await count(eventsOf(ticker.id))) > 2, "the timer ticks");
  goneEndpoint.close();

  const paths = [
    "/users/me/keys",
    `/orgs/${organization.id}`,
    `/orgs/${organization.id}/members`,
    `/sources/${counter.id}`,
    `/sources/${relay.id}`,
    `/sources/${ticker.id}`,
    `/sources/${slow.id}`,
    `/webhooks/${plain.id}`,
    `/webhooks/${ordered.id}`,
    "/users/me/subscriptions",
    eventsOf(counter.id),
    eventsOf(relay.id),
    `/webhooks/${gone.id}/dead_letters`,
  ];
  const responses: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, text, body } = await call(apiUrl, key, "GET", path);
    if (status !== 200) throw new Error(`GET ${path} returned ${status} ${text}`);
    responses[path] = body;
  }
  const unrun = [1, 2, 3];
  await post(slow.configured_props.http.endpoint_url, unrun, 3_000);
  const endpointOf = (one: Created): string => new URL(one.configured_props.http.endpoint_url).pathname;
  const ids = Object.entries({ counter, relay, ticker, slow, ordered, plain, gone, organization }).map(([name, { id }]) => [name, id]);
  return {
    ids: Object.fromEntries(ids) as release.Expectations["ids"], // The same names.
    endpoints: { counter: endpointOf(counter), slow: endpointOf(slow) },
    keys: { admin: key, reader: reader.key, member: memberKey.key },
    responses,
    counted,
    unrun,
  };
}

const key = await startRelease();
const expectations = await populate(key);
while (processesOf(directory.path).length > 0) {
  for (const { pid } of processesOf(directory.path)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended with its parent.
    }
  }
}

const postgres = await startPostgres({ dataDirectory: join(data, "postgres") });
const { migrate } = (await import(resolve(checkout, migrations))) as typeof import("../../platform/postgres/migrations/migrations.ts"); // Same contract in every release.
const dump = await dumpOf(postgres.url, migrate);
await postgres.stop();
// Postgres is restored from the dump; the others are caches, which every version builds for itself.
for (const name of ["postgres", "sandbox", "builder", "lock"]) await rm(join(data, name), { recursive: true, force: true });
await rm(join(data, "nats", "nats-server.log"), { force: true });
await rm(dirname(release.dataArchive), { recursive: true, force: true });
await mkdir(dirname(release.dataArchive), { recursive: true });
await run("tar", ["--create", "--gzip", "--file", release.dataArchive, "--directory", data, ...(await readdir(data))]);
await writeFile(release.databaseDump, gzipSync(dump, { level: 9 }));
await writeFile(release.expectations, `${JSON.stringify(expectations, null, 2)}\n`);
await directory.remove();
