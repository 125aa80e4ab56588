import { describe, expect, test } from "vitest";
import { sourceKind, type SourceStatus } from "../../../crds/source.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { ada, keys, withApi } from "./support.ts";

let backlogs: Map<string, number> | undefined = new Map();
const api = withApi(
  {},
  {
    sourceBacklogs: {
      read: async () => {
        if (backlogs === undefined) throw new Unavailable("NATS does not answer");
        return backlogs;
      },
    },
  },
);

const create = async (code: string, fields: object = {}): Promise<string> =>
  (await api.ask("POST", "/v1/sources", { body: { component_code: code, ...fields } })).body.data.id;
const get = async (id: string) => (await api.ask("GET", `/v1/sources/${id}`)).body.data;
const resourceOf = (id: string) => api.store.get(sourceKind, namespaceOfOwner(ada.id), resourceNameOf(id));

let seq = 0;
/** Records a run of what is deployed. */
async function ran(source: string, startedAt: number, error: RunError | null = null): Promise<void> {
  const { deployment = "" } = (await resourceOf(source)).status;
  const run = { id: `r_${++seq}`, trigger: "manual", generation: 1, startedAt, durationMs: 5, cpuMs: 2, result: null } as const;
  await api.history.recordCommits("TEST", [
    { seq, commit: { source, owner: ada.id, deployment, run, events: [], logs: [], error, state: emptyState } },
  ]);
}

async function changeStatus(source: string, change: (status: SourceStatus) => Partial<SourceStatus>): Promise<void> {
  const resource = await resourceOf(source);
  await api.store.updateStatus(sourceKind, { ...resource, status: { ...resource.status, ...change(resource.status) } });
}

const thrown = { name: "TypeError", message: "x is undefined\nat y", stack: "TypeError: secret stack" };

describe("the health of a source", () => {
  test("is active without a problem before the first run", async () => {
    expect(await get(await create("name: Quiet"))).toMatchObject({
      state: "active",
      problem: null,
      last_run_at: null,
      last_error: null,
      next_tick_at: null,
      backlog: 0,
    });
  });

  test("is failing after a failed run, with the number in a row, and active after a success; last_error stays", async () => {
    const source = await create("name: Flaky");
    await ran(source, 1_700_000_000_000);
    await ran(source, 1_700_000_010_999, thrown);
    await ran(source, 1_700_000_020_000, { name: "RunTimeout", message: "the run took too long", code: "run_timeout" });
    expect(await get(source)).toMatchObject({
      state: "failing",
      problem: { code: "run_timeout", message: "the last 2 runs failed: RunTimeout: the run took too long", since: 1_700_000_010 },
      last_run_at: 1_700_000_020,
      last_error: { code: "run_timeout", message: "RunTimeout: the run took too long", at: 1_700_000_020 },
    });
    await ran(source, 1_700_000_030_000);
    expect(await get(source)).toMatchObject({
      state: "active",
      problem: null,
      last_run_at: 1_700_000_030,
      last_error: { code: "run_timeout", at: 1_700_000_020 },
    });
  });

  test("shows a thrown error with its code and without its stack", async () => {
    const source = await create("name: Thrower");
    await ran(source, 1_700_000_000_000, thrown);
    const { problem, last_error } = await get(source);
    expect(problem).toEqual({ code: "run_failed", message: "the last run failed: TypeError: x is undefined", since: 1_700_000_000 });
    expect(last_error).toEqual({ code: null, message: "TypeError: x is undefined", at: 1_700_000_000 });
  });

  test("is reset by each deployment", async () => {
    const source = await create("name: Fixed");
    await ran(source, 1_700_000_000_000, thrown);
    expect((await get(source)).state).toBe("failing");
    const { body } = await api.ask("PUT", `/v1/sources/${source}`, { body: { name: "Fixed again" } });
    expect(body.data).toMatchObject({ state: "active", problem: null, last_error: { at: 1_700_000_000 } });
  });

  test("is paused without a next tick while the source is inactive", async () => {
    const source = await create("name: Resting; props: timer");
    const ticking = await get(source);
    expect(ticking.state).toBe("active");
    expect(ticking.next_tick_at).toBeGreaterThan(Date.now() / 1_000 - 1);
    expect(ticking.next_tick_at).toBeLessThanOrEqual(Date.now() / 1_000 + 61);
    await ran(source, 1_700_000_000_000, thrown);
    const { body } = await api.ask("PUT", `/v1/sources/${source}`, { body: { active: false } });
    expect(body.data).toMatchObject({ active: false, state: "paused", problem: null, next_tick_at: null });
  });

  test("is disabled as soon as the run that disabled it is recorded", async () => {
    const source = await create("name: Costly; props: timer");
    await ran(source, 1_700_000_000_000, { name: "SourceDisabled", message: "three runs cost their process", code: "source_disabled" });
    expect(await get(source)).toMatchObject({
      state: "disabled",
      problem: { code: "source_disabled", message: "three runs cost their process" },
      next_tick_at: null,
    });
  });

  test("is failing with the reason of a failed deployment, and deploying in the meantime", async () => {
    const source = await create("name: Halted");
    const at = "2026-11-21T12:00:00.000Z";
    const notReady = (reason: string, message: string) =>
      changeStatus(source, ({ conditions = [] }) => ({
        conditions: conditions.map((each) =>
          each.type === "Ready" ? { ...each, status: "False", reason, message, lastTransitionTime: at } : each,
        ),
      }));
    await notReady("UpdateFailed", "hook activate failed: Error: no");
    expect(await get(source)).toMatchObject({
      state: "failing",
      problem: { code: "update_failed", message: "hook activate failed: Error: no", since: Date.parse(at) / 1_000 },
    });
    await notReady("HookRunning", "hook activate was asked for");
    expect(await get(source)).toMatchObject({ state: "deploying", problem: null });
  });

  test("has the backlog, or null while NATS does not respond", async () => {
    const source = await create("name: Busy");
    backlogs = new Map([[source, 7]]);
    expect((await get(source)).backlog).toBe(7);
    backlogs = undefined;
    expect(await get(source)).toMatchObject({ state: "active", backlog: null });
    backlogs = new Map();
    expect((await get(source)).backlog).toBe(0);
  });

  test("is equal in lists and single responses, and hidden from other users", async () => {
    const source = await create("name: Listed; props: timer");
    await ran(source, 1_700_000_000_000, thrown);
    const { body } = await api.ask("GET", "/v1/users/me/sources?limit=1");
    expect(body.data[0]).toEqual(await get(source));
    expect((await api.ask("GET", "/v1/sources?include=id,state&limit=1")).body.data).toEqual([{ id: source, state: "failing" }]);
    expect((await api.ask("GET", `/v1/sources/${source}`, { key: keys.bob })).status).toBe(404);
  });
});
