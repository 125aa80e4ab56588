import { beforeAll, describe, expect, test } from "vitest";
import { emptyState } from "../../../domain/run/commit.ts";
import type { RunSummary } from "../../../domain/invocation/invocation.ts";
import { ada, withApi } from "./support.ts";
import { committedEvent } from "../committed-event.ts";

const recordTimeoutMs = 4_000;
const api = withApi({ runTimeoutMs: 300, recordTimeoutMs });
let [source, sequence] = ["", 0];
const made = async (code: string, props: object = {}): Promise<string> =>
  (await api.ask("POST", "/v1/sources", { body: { component_code: code, configured_props: props } })).body.data.id;
const eventOf = async (id: string, body: object = {}): Promise<unknown> => {
  await api.ask("POST", `/v1/sources/${id}/runs`, { body });
  return api.ran.at(-1)?.event;
};

beforeAll(async () => {
  source = await made("name: Listener; needs event");
});

const summary = (id: string): RunSummary => ({
  id,
  source,
  trigger: "manual",
  generation: 1,
  startedAt: 1_700_000_000_123,
  durationMs: 5,
  cpuMs: 2,
  eventIds: [`${sequence}-0`],
  logs: [],
  error: null,
  result: null,
});

/** What the recorder does with the commit of a run. */
async function record(id: string): Promise<void> {
  const { source: _, eventIds: _ids, logs: _logs, error: _error, ...run } = summary(id);
  const commit = {
    source,
    owner: ada.id,
    deployment: "d_1",
    run,
    events: [committedEvent(`${sequence}-0`)],
    logs: [],
    error: null,
    state: emptyState,
  };
  await api.history.recordCommits("RUN-NOW", [{ seq: sequence, commit }]);
}

describe("a manual run without an event", () => {
  test("gets a tick of the source's timer, as configured", async () => {
    const id = await made("name: T; props: timer", { timer: { cron: "*/5 * * * *", timezone: "Europe/Berlin" } });
    const now = Math.floor(Date.now() / 1000);
    const event = (await eventOf(id)) as { timestamp: number };
    expect(event).toEqual({ timestamp: expect.any(Number), interval_seconds: null, cron: "*/5 * * * *", timezone: "Europe/Berlin" });
    expect(event.timestamp - now).toBeLessThan(60);
  });

  test("gets an empty request for an HTTP interface, and a tick if there are both", async () => {
    const id = await made("name: H; props: http");
    const url = `http://ingress.test/${id}/`;
    expect(await eventOf(id)).toEqual({ method: "GET", path: "/", url, query: {}, headers: {}, client_ip: "127.0.0.1" });
    expect(await eventOf(await made("name: B; props: http timer"))).toMatchObject({ interval_seconds: 60 });
  });

  test("is refused if no trigger defines the event, and null counts as an event", async () => {
    for (const ask of [{}, { body: {} }, { body: { dry_run: true } }]) {
      const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, ask);
      expect([status, body.code, body.error]).toEqual([422, "event_missing", expect.stringContaining('send {"event": …}')]);
    }
    expect(await eventOf(source, { event: null })).toBeNull();
  });
});

describe("after the response to a run", () => {
  test("shows the run and its events immediately, however late they are recorded", async () => {
    api.onRun = async ({ run }) => {
      sequence += 1;
      setTimeout(() => void record(run), 150);
      return summary(run);
    };
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: { event: 1 } });
    expect([status, body.warnings]).toEqual([200, undefined]);
    expect((await api.ask("GET", `/v1/sources/${source}/runs/${body.data.id}`)).status).toBe(200);
    const summaries = await api.ask("GET", `/v1/sources/${source}/event_summaries`);
    expect(summaries.body.data[0].id).toBe(body.data.event_ids[0]);
  });

  test("warns if the run is not recorded in time", async () => {
    api.onRun = async ({ run }) => summary(run);
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: { event: 1 } });
    expect([status, body.warnings]).toMatchObject([200, [{ code: "not_recorded_yet", path: "id" }]]);
  });

  test("shows a run that has not ended as running, until it is recorded", async () => {
    api.onRun = (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: { event: 1 } });
    expect([status, body.data.status]).toEqual([202, "running"]);
    const path = `/v1/sources/${source}/runs/${body.data.id}`;
    expect((await api.ask("GET", path)).body.data).toEqual(body.data);
    expect((await api.ask("GET", `/v1/sources/${await made("name: Other")}/runs/${body.data.id}`)).status).toBe(404);
    sequence += 1;
    await record(body.data.id);
    expect((await api.ask("GET", path)).body.data.status).toBe("succeeded");
  });
});
