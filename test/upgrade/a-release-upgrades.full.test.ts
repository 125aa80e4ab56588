import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startPostgres } from "../../platform/process/postgres/postgres.ts";
import { call } from "../support/system/client.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { dataArchive, databaseDump, expectations as expectationsFile, secretToken, settings, type Expectations } from "./release.ts";

const expected = JSON.parse(readFileSync(expectationsFile, "utf8")) as Expectations; // Written by capture-release.ts.
const { ids, keys, counted, unrun } = expected;
let directory: TemporaryDirectory;
let headwater: Headwater;
const receivers = new Map<string, Receiver>();

interface Counted {
  readonly n: number;
  readonly request: number;
  readonly tokenLength?: number;
}
interface Page<Item> {
  readonly data: readonly Item[];
}

/** Unpacks the release's files and loads its database into a new Postgres, which `npm start` then finds in the data directory. */
async function restore(data: string): Promise<void> {
  await mkdir(data, { recursive: true });
  await promisify(execFile)("tar", ["--extract", "--gzip", "--file", dataArchive, "--directory", data]);
  const postgres = await startPostgres({ dataDirectory: join(data, "postgres") });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(gunzipSync(await readFile(databaseDump)).toString());
  await client.end();
  await postgres.stop();
}

beforeAll(async () => {
  directory = await temporaryDirectory("upgrade");
  const data = join(directory.path, "data");
  await restore(data);
  headwater = await startHeadwater({ dataDirectory: data, env: settings });
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await Promise.all([...receivers.values()].map((receiver) => receiver.close()));
  await directory.remove();
});

const eventsOf = async <Event = Counted>(source: string): Promise<readonly Event[]> => {
  const { body } = await headwater.call<Page<{ event: Event }>>("GET", `/sources/${source}/event_summaries?expand=event&limit=100`);
  return body.data.map(({ event }) => event);
};
/** The release's component emitted them. */
const requestsTo = (webhook: string): readonly number[] =>
  receivers.get(webhook)?.received.map(({ body }) => (JSON.parse(body) as { request: number }).request) ?? [];
/** Changes the webhook's URL to an endpoint that accepts everything. */
async function receiveAt(webhook: string): Promise<void> {
  const receiver = await startReceiver();
  receivers.set(webhook, receiver);
  const { status, text } = await headwater.call("PUT", `/webhooks/${webhook}`, { url: receiver.url });
  expect(status, text).toBe(200);
}

const volatileFields = [
  "last_run_at",
  "last_used_at",
  "next_tick_at",
  "backlog",
  "updated_at",
  "endpoint_url",
  "end_cursor",
  "start_cursor",
];
/** The fields that do not change by themselves. */
const stable = (response: unknown): object =>
  JSON.parse(JSON.stringify(response, (name, value: unknown) => (volatileFields.includes(name) ? undefined : value))) as object;

describe("the current version on the data of release 0.1.0", () => {
  // Fields may have been added since.
  it.each(Object.entries(expected.responses))("GET %s returns what the release returned", async (path, response) => {
    const read = async (): Promise<object> => stable((await headwater.call("GET", path)).body);
    await vi.waitFor(async () => expect(await read()).toMatchObject(stable(response)), { timeout: 120_000, interval: 100 });
  });

  it("accepts the release's API keys with their scopes", async () => {
    expect(headwater.key).toBe(keys.admin);
    expect((await call(headwater.apiUrl, keys.member, "GET", `/orgs/${ids.organization}/members`)).status).toBe(200);
    expect((await call(headwater.apiUrl, keys.reader, "GET", `/sources/${ids.counter}`)).status).toBe(200);
    expect((await call(headwater.apiUrl, keys.reader, "DELETE", `/sources/${ids.counter}`)).status).toBe(403);
  });

  it("runs the accepted requests that the release had not run, once and in order", async () => {
    await until(async () => (await eventsOf(ids.slow)).length >= unrun.length, "the pending requests run");
    expect((await eventsOf(ids.slow)).toReversed().map(({ n, request }) => ({ n, request }))).toEqual(
      unrun.map((request, index) => ({ n: index + 1, request })),
    );
  });

  it("continues a source's db, secrets and dedupe state where the release left them", async () => {
    const send = async (request: number): Promise<void> => {
      const response = await fetch(`${headwater.ingressUrl}${expected.endpoints.counter}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ request }),
      });
      expect(response.status).toBe(200);
    };
    await send(counted[0] ?? 0); // Counts, but its event has an id that the release has emitted.
    await send(100);
    await until(async () => (await eventsOf(ids.counter))[0]?.request === 100, "the new request's event is in the history");
    const [newest, previous] = await eventsOf(ids.counter);
    expect(newest).toEqual({ n: counted.length + 2, request: 100, tokenLength: secretToken.length });
    expect(previous?.request).toBe(counted.at(-1));
  });

  it("continues timers", async () => {
    const { length } = await eventsOf(ids.ticker);
    await until(async () => ((await eventsOf<{ n: number }>(ids.ticker))[0]?.n ?? 0) > length, "the timer ticks");
  });

  it("delivers what the release had queued for an ordered webhook, in order, before new events", async () => {
    await receiveAt(ids.ordered);
    await until(() => requestsTo(ids.ordered).includes(100), "the ordered queue is delivered");
    expect(requestsTo(ids.ordered).slice(0, counted.length)).toEqual(counted);
  });

  it("retries the deliveries that had failed", async () => {
    await receiveAt(ids.plain);
    const all = [...counted, 100];
    await until(() => all.every((request) => requestsTo(ids.plain).includes(request)), "every retry is delivered");
    expect(requestsTo(ids.plain)).toHaveLength(all.length);
  });

  it("redelivers the release's dead letters", async () => {
    await receiveAt(ids.gone);
    // The PUT returns before the delivery role knows the new URL; until then a redriven event becomes a dead letter again.
    await vi.waitFor(
      async () => {
        const { status, text } = await headwater.call("POST", `/webhooks/${ids.gone}/dead_letters/redrive`);
        expect(status, text).toBe(202);
        expect(requestsTo(ids.gone)).toEqual(expect.arrayContaining([...counted]));
      },
      { timeout: 120_000, interval: 1_000 },
    );
  });
});
