import { describe, expect, test } from "vitest";
import { workflowKind, type WorkflowStatus } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { systemClock } from "../../../domain/clock.ts";
import { healthReconciler } from "../../../operator/health/refresh-health.ts";
import { createOutcomes } from "../../../platform/postgres/history/outcomes.ts";
import { committedStep, recordable } from "../../domain/run/workflow-commits.ts";
import { ada, keys, withApi } from "./support.ts";

const api = withApi();
const create = async (name: string): Promise<string> => (await api.ask("POST", "/v1/workflows", { body: { name } })).body.data.id;
const get = async (id: string) => (await api.ask("GET", `/v1/workflows/${id}`)).body.data;
const resourceOf = (id: string) => api.store.get(workflowKind, namespaceOfOwner(ada.id), resourceNameOf(id));

let seq = 0;
/** Records a run of the running version that ends after its only step. */
async function ran(source: string, startedAt: number, error: RunError | null = null): Promise<void> {
  const { deployment = "" } = (await resourceOf(source)).status;
  const run = { id: `r_${++seq}`, trigger: "event", generation: 1, startedAt, durationMs: 5, cpuMs: 1, result: null } as const;
  const step = committedStep({ id: "c_a", name: "a", index: 0, startedAt, durationMs: 5, error });
  const workflow = { status: error === null ? "succeeded" : "failed", startedAt, step, event: "{}" } as const;
  const commit = recordable({ source, owner: ada.id, deployment, run, events: [], error, workflow });
  await api.history.recordCommits("TEST", [{ seq, commit }]);
}

async function changeStatus(id: string, change: (status: WorkflowStatus) => Partial<WorkflowStatus>): Promise<void> {
  const resource = await resourceOf(id);
  await api.store.updateStatus(workflowKind, { ...resource, status: { ...resource.status, ...change(resource.status) } });
}

const thrown = { name: "TypeError", message: "x is undefined\nat y", stack: "TypeError: secret stack" };

describe("the health of a workflow", () => {
  test("is active without a problem before the first run, and paused with its switch", async () => {
    const id = await create("Quiet");
    expect(await get(id)).toMatchObject({ active: true, state: "active", problem: null, success_rate: null });
    expect((await api.ask("PUT", `/v1/workflows/${id}`, { body: { active: false } })).body.data).toMatchObject({
      active: false,
      state: "paused",
    });
  });

  test("is failing after failed runs, degraded after a success, and active with another version", async () => {
    const [id, start] = [await create("Flaky"), Date.now() - 60_000];
    await ran(id, start);
    for (const at of [1_000, 2_000]) await ran(id, start + at, thrown);
    const failing = await get(id);
    expect(failing).toMatchObject({
      active: true,
      state: "failing",
      problem: {
        code: "run_failed",
        message: "the last 2 runs failed: TypeError: x is undefined",
        since: Math.floor((start + 1_005) / 1_000),
      },
      success_rate: 0.333,
    });
    expect((await api.ask("GET", "/v1/users/me/workflows?limit=1")).body.data[0]).toEqual(failing);
    expect((await api.ask("GET", `/v1/workflows/${id}`, { key: keys.bob })).status).toBe(404);
    await ran(id, start + 3_000);
    expect(await get(id)).toMatchObject({ state: "degraded", problem: { code: "runs_failed" }, success_rate: 0.5 });
    await api.ask("PUT", `/v1/workflows/${id}`, { body: { name: "Flaky no more" } });
    expect(await get(id)).toMatchObject({ state: "active", problem: null, success_rate: null });
  });

  test("is failing with the reason why it is not deployed, such as a source that was deleted", async () => {
    const id = await create("Lost");
    const at = "2026-11-21T12:00:00.000Z";
    await changeStatus(id, ({ conditions = [] }) => ({
      conditions: conditions.map((each) =>
        each.type === "Ready"
          ? { ...each, status: "False", reason: "SourceNotFound", message: "triggers[0]: source dc_1 is not found", lastTransitionTime: at }
          : each,
      ),
    }));
    expect(await get(id)).toMatchObject({
      active: true,
      state: "failing",
      problem: { code: "source_not_found", message: "triggers[0]: source dc_1 is not found", since: Date.parse(at) / 1_000 },
    });
  });

  test("is refreshed in the status when it changes, and not written again while it lasts", async () => {
    const id = await create("Watched");
    let now = Date.now();
    const ports = { store: api.store, outcomes: createOutcomes(api.database), clock: { ...systemClock, now: () => now } };
    let resources = [await resourceOf(id)];
    const reconcile = healthReconciler(ports, { webhooks: () => [], workflows: () => resources });
    const refreshed = async () => {
      resources = [await resourceOf(id)];
      await reconcile("all", new AbortController().signal);
      return resourceOf(id);
    };
    await ran(id, now, thrown);
    const failing = await refreshed();
    expect(failing.status).toMatchObject({
      state: "failing",
      problem: { code: "run_failed", message: expect.stringMatching(/^the last run failed: /) },
      successRate: 0,
    });
    await ran(id, now + 1, thrown);
    expect((await refreshed()).metadata.resourceVersion).toBe(failing.metadata.resourceVersion);
    now += 5 * 60_000;
    expect((await refreshed()).status.problem?.message).toBe("the last 2 runs failed: TypeError: x is undefined");
    await ran(id, now);
    expect((await refreshed()).status).toMatchObject({ state: "degraded" });
    now += 2 * 3_600_000;
    const well = await refreshed();
    expect(well.status).toMatchObject({ state: "active" });
    expect(well.status.problem).toBeUndefined();
    expect((await refreshed()).metadata.resourceVersion).toBe(well.metadata.resourceVersion);
  });
});
