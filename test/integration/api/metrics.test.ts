import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { metricsSchema } from "../../../api/metrics/schemas.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { createMeasures } from "../../../platform/postgres/measures/read.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { committedEvent } from "../committed-event.ts";
import { acme, ada, keys, withApi } from "./support.ts";

const minute = 60_000;
/** Half past a minute: the recorder counts only recent commits in their own minute. */
const now = Math.floor(Date.now() / minute) * minute + 30_000;
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken }, { clock: { now: () => now } });

const commitOf = (source: string, owner: string, at: number, more: Partial<Commit> = {}): Commit => ({
  source,
  owner,
  deployment: "d_1",
  run: { id: `r_${at}`, trigger: "http", generation: 1, startedAt: at, durationMs: 20, cpuMs: 1, queuedMs: 6, result: null },
  events: [committedEvent(`${at}-0`, {})],
  logs: [],
  error: null,
  state: emptyState,
  ...more,
});

let source = "";
let webhook = "";
let ofAcme = "";
beforeAll(async () => {
  const made = async (path: string, body: object): Promise<string> => (await api.ask("POST", `/v1${path}`, { body })).body.data.id;
  source = await made("/sources", { component_code: "name: Measured", name: "measured" });
  ofAcme = await made(`/sources?org_id=${acme.id}`, { component_code: "name: Of Acme" });
  webhook = await made("/webhooks", { url: "https://measured.test/" });
  const failed = { error: { name: "Error", message: "no" }, events: [] };
  await api.history.recordCommits("RUNS", [
    { seq: 1, commit: commitOf(source, ada.id, now - 10 * minute) },
    { seq: 2, commit: commitOf(source, ada.id, now - 10 * minute, failed) },
    { seq: 3, commit: commitOf(source, ada.id, now - 3 * minute) },
    { seq: 4, commit: commitOf(ofAcme, acme.id, now - 3 * minute) },
  ]);
  const attempt = { delivery: "dlv_1", webhook, source, owner: ada.id, subscription: "sub_1", event: "1-0", emitId: "em", channel: "" };
  await createDeliveryRecords(api.database).recordAttempts([
    { ...attempt, attempt: 1, at: now - minute, durationMs: 9, outcome: "retry", status: 500, error: "500" },
    { ...attempt, attempt: 2, at: now - minute, durationMs: 7, outcome: "delivered", status: 200, error: null },
  ]);
});

const read = async (path: string, key: string = keys.ada) => metricsSchema.parse((await api.ask("GET", `/v1${path}`, { key })).body.data);
const failureOf = async (path: string, key: string = keys.ada): Promise<string> => {
  const { status, body } = await api.ask("GET", `/v1${path}`, { key });
  return `${status} ${body.error}`;
};

describe("metrics", () => {
  test("of a source have a point for each step, and the total", async () => {
    const { points, total, ...range } = await read(`/sources/${source}/metrics?from=${now - 15 * minute}&step=minute`);
    expect(range).toEqual({ id: source, step: "minute", step_ms: minute, from_ms: now - 30_000 - 15 * minute, to_ms: now + 30_000 });
    expect(total).toMatchObject({ runs: 3, errors: 1, events: 2, compute_ms: 60, wait_avg_ms: 6, wait_max_ms: 6, max_ms: 20, attempts: 0 });
    expect(points.map(({ runs }) => runs)).toEqual([0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    expect(points[5]).toMatchObject({ errors: 1, p95_ms: 19, wait_avg_ms: 6 });
    expect(points[0]).toMatchObject({ runs: 0, p50_ms: null, p95_ms: null, max_ms: null, wait_avg_ms: null, wait_max_ms: null });
  });

  test("of a source are found by its slug", async () => {
    expect((await read("/sources/measured/metrics")).id).toBe(source);
  });

  test("of a webhook are those of its attempts", async () => {
    const { total } = await read(`/webhooks/${webhook}/metrics`);
    expect(total).toMatchObject({ attempts: 2, failed_attempts: 1, deliveries: 1, dead_letters: 0, max_ms: 9, runs: 0 });
  });

  test("of an owner are those of all that it owns", async () => {
    expect((await read("/users/me/metrics")).total).toMatchObject({ runs: 3, attempts: 2, deliveries: 1 });
    for (const path of [`/users/me/metrics?org_id=${acme.id}`, `/orgs/${acme.id}/metrics`])
      expect(await read(path)).toMatchObject({ id: acme.id, total: { runs: 1, attempts: 0 } });
    expect((await read("/users/me/metrics", keys.bob)).total).toMatchObject({ runs: 0, attempts: 0 });
    expect(await failureOf(`/orgs/${acme.id}/metrics`, keys.bob)).toContain("403 you are not a member");
  });

  test("of several are read by one request, in the order of the ids", async () => {
    const { body } = await api.ask("GET", `/v1/metrics?ids=${webhook},${source},${ofAcme},${source}&step=hour`);
    expect(body.data.map(({ id, total, points }: never) => [id, total["runs"], total["attempts"], (points as object[]).length])).toEqual([
      [webhook, 0, 2, 25],
      [source, 3, 0, 25],
      [ofAcme, 1, 0, 25],
    ]);
  });

  test("of several leave out what belongs to another owner, and what does not exist", async () => {
    const idsOf = async (ids: string, key: string): Promise<unknown> =>
      (await api.ask("GET", `/v1/metrics?ids=${ids}&step=hour`, { key })).body.data.map(({ id }: { readonly id: string }) => id);
    expect(await idsOf(source, keys.bob)).toEqual([]);
    expect(await idsOf(`dc_absent,${source},p_absent,wh_absent,of no kind`, keys.ada)).toEqual([source]);
  });

  test.each([
    ["/metrics", "422 ids is missing"],
    ["/metrics?ids=", "422 ids is"],
    [
      `/metrics?ids=${Array.from({ length: 101 }, (_, n) => `dc_${n}`).join(",")}`,
      "422 ids names 101 sources, workflows and webhooks: name at most 100",
    ],
    [
      `/metrics?ids=${Array.from({ length: 60 }, (_, n) => `dc_${n}`).join(",")}`,
      "60 ids with 97 points each are 5820 points, and a response has at most 5000",
    ],
    ["/users/me/metrics?step=week", "422 step is invalid: it must be auto, minute, 5_minutes, 15_minutes, hour or day"],
    ["/users/me/metrics?from=yesterday", "422 from is invalid: it must be a time in epoch milliseconds"],
    ["/users/me/metrics?from=-1", "422 from is invalid: it must be a time in epoch milliseconds"],
    ["/users/me/metrics?from=1795876542", "422 from 1795876542 looks like seconds"],
    [`/users/me/metrics?from=${now}&to=${now - 1}`, `422 from ${now} is after to ${now - 1}: swap them`],
    [`/users/me/metrics?from=${now - 48 * 3_600_000}&step=minute`, "422 metrics by minute are kept for 24 hours"],
    ["/users/me/metrics?from=0&step=day", `422 the range has ${Math.ceil(now / 86_400_000)} points with step day`],
  ])("refuse GET %s", async (path, message) => {
    expect(await failureOf(path)).toContain(message);
  });
});

describe("the metrics of the installation", () => {
  const ofAll = (query = "", key: string | null = adminToken) => api.ask("GET", `/admin/v1/metrics?${query}`, { key });

  test("are those of all owners together", async () => {
    const { status, body } = await ofAll(`from=${now - 60 * minute}&step=minute`);
    expect(status).toBe(200);
    const { id, total, points } = metricsSchema.parse(body.data);
    expect(id).toBe("installation");
    expect(total).toMatchObject({ runs: 4, errors: 1, events: 3, attempts: expect.any(Number) });
    const active = points.filter(({ runs }) => runs > 0);
    expect(active.map(({ at_ms: at, runs }) => [Math.round((now - at) / minute), runs])).toEqual([
      [11, 2],
      [4, 2],
    ]);
    const ofAda = (await api.ask("GET", `/v1/users/me/metrics?from=${now - 60 * minute}&step=minute`)).body.data.total;
    const ofOrganization = (await api.ask("GET", `/v1/orgs/${acme.id}/metrics?from=${now - 60 * minute}&step=minute`)).body.data.total;
    for (const name of ["runs", "events", "attempts", "deliveries", "dead_letters"] as const)
      expect([name, total[name]]).toEqual([name, ofAda[name] + ofOrganization[name]]);
  });

  test("have every step, also when nothing happened", async () => {
    const { body } = await ofAll(`from=${now - 3_600_000 * 20}&to=${now - 3_600_000 * 19}&step=minute`);
    const { total, points } = metricsSchema.parse(body.data);
    expect(total).toMatchObject({ runs: 0, p95_ms: null });
    expect(points.length).toBeGreaterThanOrEqual(60);
  });

  test.each([
    ["step=week", "it must be auto"],
    ["from=yesterday", "epoch milliseconds"],
    ["from=2&to=1", "swap"],
    [`from=${now - 90 * 86_400_000}&step=minute`, "kept for"],
  ])("refuse %s", async (query, message) => {
    const { status, body } = await ofAll(query);
    expect([status, body.error]).toEqual([422, expect.stringContaining(message)]);
  });

  test("are given up after a time, with what to do", async () => {
    const impatient = createMeasures(api.database, { maxAllMs: 50 });
    await api.database.db.transaction().execute(async (transaction) => {
      await sql`lock table measures in access exclusive mode`.execute(transaction);
      await expect(impatient.readAll({ fromMs: 0, untilMs: 1, stepMs: minute })).rejects.toThrow("choose a shorter range");
    });
  });

  test("are for admins of the installation", async () => {
    for (const key of [keys.ada, keys.bob, null]) expect((await ofAll("", key)).status).toBe(401);
  });
});
