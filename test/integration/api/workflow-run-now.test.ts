import { beforeAll, describe, expect, test } from "vitest";
import { emptyState } from "../../../domain/run/commit.ts";
import type { WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { committedStep, workflowCommit } from "../../domain/run/workflow-commits.ts";
import { ada, keys, withApi } from "./support.ts";

const api = withApi({ recordTimeoutMs: 10_000 });
let [seq, id] = [0, ""];
const original = { method: "POST", path: "/orders", body: { order: 1 } };

beforeAll(async () => {
  id = (await api.ask("POST", "/v1/workflows", { body: { name: "Run now", triggers: [{ type: "http" }] } })).body.data.id;
});

/** The runner: records a commit with this status, and answers. */
function runs(progress: Partial<WorkflowProgress>): void {
  api.onRun = async ({ run, source }) => {
    const described = { ...workflowCommit().run, id: run, trigger: "manual" } as const;
    const error = progress.status === "failed" ? { name: "Error", message: "no" } : null;
    const commit = { ...workflowCommit({ source, owner: ada.id, run: described, error, workflow: progress }), state: emptyState };
    await api.history.recordCommits("RUNS", [{ seq: ++seq, commit }]);
    return { ...described, source, eventIds: [], logs: [], error };
  };
}

const post = (body: object, key: string = keys.ada, workflow = id) => api.ask("POST", `/v1/workflows/${workflow}/runs`, { body, key });

describe("POST /workflows/{id}/runs", () => {
  test.each(["succeeded", "exited", "failed"] as const)("answers when the run has %s", async (status) => {
    runs({ status, step: committedStep({ outcome: status }) });
    const { status: code, body } = await post({ event: { x: 1 } });
    expect([code, body.data]).toEqual([
      200,
      expect.objectContaining({ id: expect.stringMatching(/^r_/), workflow_id: id, status, trigger: "manual" }),
    ]);
    expect(api.ran.at(-1)).toMatchObject({ run: body.data.id, source: id, owner: ada.id, event: { x: 1 } });
    const found = await api.ask("GET", `/v1/workflows/${id}/runs/${body.data.id}`);
    expect([found.status, found.body.data.status]).toEqual([200, status]);
  });

  test("answers when the run is suspended", async () => {
    runs({ status: "suspended", resumeAt: 1_900_000_000_000, step: committedStep({ outcome: "suspended" }) });
    expect((await post({})).body.data).toMatchObject({ status: "suspended", resume_at_ms: 1_900_000_000_000 });
  });

  test("answers 202 with the run's id if the run takes longer", async () => {
    api.onRun = async () => undefined;
    const { status, body } = await post({});
    expect([status, body.data]).toEqual([202, { id: api.ran.at(-1)?.run, workflow_id: id, status: "running", trigger: "manual" }]);
  });

  test("Error events can be replayed by re-sending event.original_event of each error summary to the workflow's trigger", async () => {
    runs({ status: "failed", step: committedStep({ outcome: "failed" }) });
    await post({ event: original });
    expect(api.ran.at(-1)?.event).toEqual(original);
    runs({ status: "succeeded", step: committedStep() });
    expect((await post({ event: api.ran.at(-1)?.event })).body.data.status).toBe("succeeded");
  });

  test("refuses inactive workflows with 409, and those of others with 404", async () => {
    const paused = (await api.ask("POST", "/v1/workflows", { body: { name: "Paused", active: false } })).body.data.id;
    const { status, body } = await post({}, keys.ada, paused);
    expect([status, body.code]).toEqual([409, "workflow_inactive"]);
    expect((await post({}, keys.bob)).status).toBe(404);
  });
});
