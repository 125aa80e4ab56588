import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { recordable } from "../../domain/run/workflow-commits.ts";
import { ada, withApi } from "./support.ts";
import { committedEvent } from "../committed-event.ts";

/** Event lists as programs written for the known service read them. */
const api = withApi();
const workflow = "p_clients";
let [source, recorded] = ["", 0];

async function record(emitter: string, runs: number, eventsPerRun: number): Promise<void> {
  for (let n = 0; n < runs; n++) {
    const seq = ++recorded;
    const run = { id: `r_c${seq}`, trigger: "manual", generation: 1, startedAt: seq, durationMs: 1, cpuMs: 1, result: null } as const;
    const events = Array.from({ length: eventsPerRun }, (_, index) => committedEvent(`${seq}-${index}`));
    const error = { name: "Error", message: "no", stack: "Error: no" };
    const given = { source: emitter, owner: ada.id, run, events, error };
    const commit =
      emitter === workflow
        ? recordable({ ...given, workflow: { status: "failed" } })
        : { ...given, deployment: "d_1", logs: [], state: emptyState };
    await api.history.recordCommits("CLIENTS", [{ seq, commit }]);
  }
}

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Many" } })).body.data.id;
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: "p-clients",
    labels: { [labels.id]: workflow },
    spec: { ...emptyWorkflow },
  });
  await record(source, 15, 8);
  await record(workflow, 15, 8);
});

describe("a list without a limit", () => {
  test.each([
    ["event_summaries returns up to 100 events", () => `/sources/${source}/event_summaries`, 100],
    ["event_summaries of $errors returns all errors", () => `/sources/${source}/event_summaries?event_name=$errors`, 15],
    ["the legacy list returns up to 100 events", () => `/sources/${source}/events`, 100],
    ["event_summaries of a workflow returns up to 100 events", () => `/workflows/${workflow}/event_summaries`, 100],
    ["$errors of a workflow returns all errors", () => `/workflows/${workflow}/$errors/event_summaries`, 15],
    ["other lists return 10 items", () => `/sources/${source}/runs`, 10],
  ])("%s", async (_, path, count) => {
    const { status, body } = await api.ask("GET", `/v1${path()}`);
    expect([status, body.data.length]).toEqual([200, count]);
  });
});

describe("the legacy list of events", () => {
  test.each([
    ["limit=3", 3],
    ["n=3", 3],
    ["n=2&limit=5", 2],
    ["limit=500", 100],
  ])("returns the number of events that ?%s selects", async (query, count) => {
    expect((await api.ask("GET", `/v1/sources/${source}/events?${query}`)).body.data).toHaveLength(count);
  });

  test.each(["n=0", "limit=0", "n=a", "limit=1.5"])("refuses ?%s", async (query) => {
    expect((await api.ask("GET", `/v1/sources/${source}/events?${query}`)).status).toBe(422);
  });
});

describe("the metadata of an event", () => {
  test("has no id and no summary if the emit had none, in every list", async () => {
    for (const list of ["event_summaries?limit=1", "event_summaries?event_name=$errors&limit=1", "events?n=1"]) {
      const { body } = await api.ask("GET", `/v1/sources/${source}/${list}`);
      expect(Object.keys(body.data[0].metadata)).toEqual(["emit_id", "name", "emitter_id", "ts"]);
    }
  });
});
