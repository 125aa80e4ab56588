import { beforeAll, describe, expect, it } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { workflowRunSubject } from "../../../domain/subjects.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { workflowCommit } from "../../domain/run/workflow-commits.ts";
import { until } from "../../support/until.ts";
import { ada, keys } from "./support.ts";
import { withRepairWorld } from "./webhooks-support.ts";

const world = withRepairWorld();
const { api } = world;
const workflow = "p_sender";
let runs = 0;

beforeAll(async () => {
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: resourceNameOf(workflow),
    labels: { [labels.id]: workflow, [labels.owner]: ada.id },
    spec: { ...emptyWorkflow },
  });
});

/** Ends a run that has called `$.send.http`. @returns the id of the send */
async function send(url: string): Promise<string> {
  const run = `r_sent${runs++}`;
  const argument = JSON.stringify({ method: "PUT", url, headers: { authorization: "Bearer hush" }, data: { n: 1 } });
  const id = `${run}.s0`;
  const { workflow: progress, ...commit } = workflowCommit({ source: workflow, owner: ada.id });
  const ended = { ...progress, status: "succeeded", sends: [{ id, kind: "http", argument, step: "one", at: 1 }] };
  const text = JSON.stringify({ ...commit, run: { ...commit.run, id: run }, workflow: ended });
  await world.streams.connection.publisher.publish(workflowRunSubject(partitionOf(workflow), ada.id, workflow, run), text);
  return id;
}
const attempts = async (query = "") => (await world.get(`/v1/workflows/${workflow}/deliveries?limit=100${query}`)).data;
const failed = async () => (await world.get(`/v1/workflows/${workflow}/dead_letters`)).data;

describe("what `$.send` of a workflow asked for", () => {
  it("has a delivery record for each attempt, and can be retried after the last one", async () => {
    world.waits = [20];
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 503;
    const id = await send(`${receiver.url}secret/path`);
    await until(async () => (await failed()).length === 1 && (await attempts()).length === 2, "two attempts");
    const [second, first] = await attempts();
    expect(first).toEqual({
      delivery_id: id,
      run_id: id.replace(".s0", ""),
      send: "http",
      attempt: 1,
      outcome: "retry",
      at_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      response_status: 503,
      cause: "the endpoint answered 503",
    });
    expect(second).toMatchObject({ attempt: 2, outcome: "dead" });
    expect(await attempts(`&run_id=${first.run_id}&outcome=dead`)).toEqual([second]);
    expect(await attempts("&run_id=r_other")).toEqual([]);
    const [letter] = await failed();
    expect(letter).toMatchObject({
      delivery_id: id,
      attempts: 2,
      cause: "the endpoint answered 503",
      argument: { method: "PUT", data: { n: 1 } },
    });
    expect(JSON.stringify([letter, first, second])).not.toMatch(/hush|secret/);

    receiver.status = 200;
    const { status, body } = await api.ask("POST", `/v1/deliveries/${id}/retry`);
    expect([status, body.data]).toEqual([202, { delivery_id: id, workflow_id: workflow, status: "queued" }]);
    await until(async () => (await attempts("&outcome=delivered")).length === 1, "it is delivered");
    expect(receiver.received.at(-1)).toMatchObject({ body: '{"n":1}', headers: { authorization: "Bearer hush", "idempotency-key": id } });
    expect(await failed()).toEqual([]);
    expect((await api.ask("POST", `/v1/deliveries/${id}/retry`)).status).toBe(409);
  });

  it("is listed together with events that could not wait for the workflow", async () => {
    const records = createDeliveryRecords(api.database);
    const subject = { delivery: "em_1.sub_1", webhook: workflow, subscription: "sub_1", owner: ada.id, source: "dc_1", event: "1-0" };
    const cause = "10000 events wait for this workflow";
    await records.recordDeadLetters([
      { ...subject, emitId: "em_1", channel: "", attempts: 0, reason: cause, diedAt: 5, payload: '{"n":1}' },
    ]);
    const [letter] = await failed();
    expect(letter).toEqual({
      delivery_id: "em_1.sub_1",
      run_id: null,
      send: null,
      event: { event_id: "1-0", source_id: "dc_1", subscription_id: "sub_1", event_name: "" },
      attempts: 0,
      died_at_ms: 5,
      cause,
      argument: { n: 1 },
    });
    await records.deleteDeadLetters(workflow);
  });

  it("returns 404 to another owner", async () => {
    for (const path of ["deliveries", "dead_letters"])
      expect((await api.ask("GET", `/v1/workflows/${workflow}/${path}`, { key: keys.bob })).status).toBe(404);
    expect((await api.ask("POST", "/v1/deliveries/r_sent0.s0/retry", { key: keys.bob })).status).toBe(404);
  });
});
