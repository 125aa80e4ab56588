import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import type { StreamReport } from "../../../api/admin/ports.ts";
import { keepDiskSamples } from "../../../platform/postgres/storage/disk-samples.ts";
import { keys, withApi } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const hourMs = 3_600_000;
const stream = (name: string, bytes: number, limitBytes: number | null): StreamReport => ({
  name,
  messages: 1,
  bytes,
  maxBytes: limitBytes,
  limitBytes,
  replicas: 1,
});
let streams: readonly StreamReport[] = [];
let freeBytes = 10 ** 12;
const lag = { oldestInvocationAt: null, unrouted: 0, due: 0, scheduled: 0, ordered: 0, unrecorded: 0 };
const read = async () => ({ natsVersion: "", streams, runners: [], deliveries: [{ id: "d1", partitions: [] }], lag });
const api = withApi({ adminToken }, { installation: { read }, freeDiskBytes: async () => freeBytes });

const admin = async (path: string) => {
  const { status, body } = await api.ask("GET", `/admin/v1${path}`, { key: adminToken });
  expect(status).toBe(200);
  return body.data;
};

/** Samples of a line that ends with `bytes`. */
async function addSamples(name: string, bytes: number, perHour: number): Promise<void> {
  const now = Date.now();
  for (let hours = 1; hours <= 24; hours++)
    await sql`insert into disk_samples values (${name}, ${now - hours * hourMs}, ${bytes - hours * perHour})`.execute(api.database.db);
}

beforeEach(async () => {
  [streams, freeBytes] = [[], 10 ** 12];
  await sql`delete from disk_samples`.execute(api.database.db);
});

test("an installation without samples has sizes, and no forecast", async () => {
  streams = [stream("KV_ROUTES", 10, null), stream("RUNS", 20, 100)];
  const unknown = { forecast: "unknown", bytes_per_day: null, full_at: null };
  const [database, ...rest] = await admin("/storage");
  expect(database).toEqual({
    name: "postgres",
    kind: "database",
    bytes: expect.any(Number),
    limit_bytes: 10 ** 12 + database.bytes,
    ...unknown,
  });
  expect(database.bytes).toBeGreaterThan(1e6);
  expect(rest).toEqual([
    { name: "KV_ROUTES", kind: "stream", bytes: 10, limit_bytes: null, ...unknown },
    { name: "RUNS", kind: "stream", bytes: 20, limit_bytes: 100, ...unknown },
  ]);
});

test("a stream that grows has a date, and is a problem a week before", async () => {
  streams = [stream("RUNS", 5_000, 10_000), stream("STATE", 5_000, 1_000_000), stream("DELIVERIES", 5_000, 10_000)];
  await addSamples("RUNS", 5_000, 100);
  await addSamples("STATE", 5_000, 100);
  await addSamples("DELIVERIES", 5_000, 0);
  const [, runs, state, deliveries] = await admin("/storage");
  expect(runs).toMatchObject({ forecast: "growing" });
  expect(Math.abs(runs.bytes_per_day - 2_400)).toBeLessThan(10);
  expect(Math.abs(runs.full_at - Date.now() - 50 * hourMs)).toBeLessThan(hourMs);
  expect(state).toMatchObject({ forecast: "growing", full_at: null });
  expect(deliveries).toMatchObject({ forecast: "steady", bytes_per_day: null, full_at: null });
  expect((await admin("/status")).problems).toEqual([
    { code: "storage_fills", message: expect.stringMatching(/^the stream RUNS is full in 2\.\d days/), runbook: "HeadwaterStreamFull" },
  ]);
});

test("the disk of the database is a problem by its free bytes", async () => {
  const [{ bytes }] = await admin("/storage");
  await addSamples("postgres", bytes, Math.round(bytes / 200));
  freeBytes = Math.round(bytes / 2);
  expect((await admin("/status")).problems).toEqual([
    { code: "storage_fills", message: expect.stringMatching(/^the disk of the database is full in/), runbook: "HeadwaterVolumeFull" },
  ]);
  // However slowly it grows.
  freeBytes = 24_000;
  expect((await admin("/status")).problems).toEqual([
    {
      code: "disk_full",
      message: expect.stringMatching(/^the disk of the database has room for 24000 more bytes/),
      runbook: "HeadwaterVolumeFull",
    },
  ]);
});

test("a sample is stored once an hour, also by several processes, and for two weeks", async () => {
  await sql`insert into disk_samples values ('RUNS', ${Date.now() - 15 * 24 * hourMs}, 1)`.execute(api.database.db);
  const sizes = [stream("RUNS", 7, null), stream("STATE", 0, null)];
  await Promise.all([keepDiskSamples(api.database, sizes), keepDiskSamples(api.database, sizes), keepDiskSamples(api.database, sizes)]);
  const { rows } = await sql<{ name: string; bytes: number }>`select name, bytes from disk_samples order by name`.execute(api.database.db);
  expect(rows.filter(({ name }) => name !== "postgres")).toEqual([
    { name: "RUNS", bytes: 7 },
    { name: "STATE", bytes: 0 },
  ]);
  expect(rows).toHaveLength(3);
  expect((await admin("/storage")).map(({ name }: StreamReport) => name)).toEqual(["postgres"]);
});

test("the state is reported without a forecast when the samples cannot be read, and the storage is an error", async () => {
  await sql`alter table disk_samples rename to no_samples`.execute(api.database.db);
  expect((await admin("/status")).problems).toEqual([
    { code: "unknown", message: expect.stringMatching(/^it is not known how full the disks are/), runbook: "HeadwaterServerDown" },
  ]);
  expect((await api.ask("GET", "/admin/v1/storage", { key: adminToken })).status).toBe(500);
  await sql`alter table no_samples rename to disk_samples`.execute(api.database.db);
});

test("other users do not see it", async () => {
  for (const key of [keys.ada, keys.bob, null]) expect((await api.ask("GET", "/admin/v1/storage", { key })).status).toBe(401);
});
