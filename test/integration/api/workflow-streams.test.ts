import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endMarker, type WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { workflowRunSubject } from "../../../domain/subjects.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { committedEvent as event } from "../committed-event.ts";
import { committedStep, workflowCommit } from "../../domain/run/workflow-commits.ts";
import { until } from "../../support/until.ts";
import { openStream, withStreamingApi, type OpenStream } from "./streams-support.ts";
import { ada, keys } from "./support.ts";

const { api, nats } = withStreamingApi({ keepAliveMs: 1_000, waitingBytes: 256 * 1024 });
const opened: OpenStream[] = [];
let [workflow, runs] = ["", 0];

beforeEach(async () => {
  workflow = (await api.ask("POST", "/v1/workflows", { body: { name: "Streamed" } })).body.data.id;
});
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close();
});

async function open(path: string): Promise<OpenStream> {
  const stream = await openStream(api.url, path);
  opened.push(stream);
  return stream;
}

/** The commit that ends a run, and the end marker behind it. */
async function end(
  events: readonly CommittedEvent[],
  progress: Partial<WorkflowProgress> = {},
  error: RunError | null = null,
): Promise<void> {
  const run = `r_${++runs}`;
  const status = error === null ? "succeeded" : "failed";
  const given = { status, step: committedStep({ outcome: status }), ...progress } as const;
  const commit = workflowCommit({
    source: workflow,
    owner: ada.id,
    run: { ...workflowCommit().run, id: run },
    events,
    error,
    workflow: given,
  });
  const subject = workflowRunSubject(partitionOf(workflow), ada.id, workflow, run);
  await nats.connection.publisher.publish(subject, JSON.stringify(commit));
  await nats.connection.publisher.publish(subject, endMarker);
}

describe("GET /workflows/{id}/sse", () => {
  it("sends the events of all runs, the emitted data under raw_event, whatever the order of their ids", async () => {
    const streams = [await open(`/v1/workflows/${workflow}/sse`), await open(`/workflows/${workflow}/sse/`)];
    await end([event("2-0")]);
    await end([event("1-0", { channel: "c" })]);
    for (const stream of streams) {
      await until(() => stream.messages().length >= 2, "two events");
      expect(stream.messages()).toEqual([
        { id: "2-0", data: { event: { raw_event: { id: "2-0" } }, metadata: expect.objectContaining({ name: "", emitter_id: workflow }) } },
        { id: "1-0", data: { event: { raw_event: { id: "1-0" } }, metadata: expect.objectContaining({ name: "c" }) } },
      ]);
    }
  });

  it("sends what $.send.sse sends as an event of its channel, and $errors to those who name it", async () => {
    const [channel, all, errors] = [
      await open(`/v1/workflows/${workflow}/sse?event_name=news`),
      await open(`/v1/workflows/${workflow}/sse`),
      await open(`/v1/workflows/${workflow}/sse?event_name=$errors`),
    ];
    const argument = JSON.stringify({ channel: "news", payload: { text: "hello" } });
    const id = `r_${runs + 1}.s0`;
    await end([], { sends: [{ id, kind: "sse", argument, step: "first", at: 1 }] });
    await end([], {}, { name: "Error", message: "no" });
    for (const stream of [channel, all]) {
      await until(() => stream.messages().length >= 1, "the payload");
      expect(stream.messages()).toEqual([
        { id: undefined, data: { event: { text: "hello" }, metadata: { emit_id: id, name: "news", emitter_id: workflow, ts: 1 } } },
      ]);
    }
    await until(() => errors.messages().length >= 1, "the error");
    expect(errors.messages()).toMatchObject([{ data: { event: { error: { message: "no" } }, metadata: { name: "$errors" } } }]);
  });

  it("continues after an event with those that are not recorded yet, each once", async () => {
    await end([event("1-0")]);
    await end([event("3-0"), event("2-0")]);
    const stream = await openStream(api.url, `/v1/workflows/${workflow}/sse`, { headers: { "last-event-id": "1-0" } });
    opened.push(stream);
    await end([event("4-0")]);
    await until(() => stream.ids().includes("4-0"), "the live event");
    expect(stream.ids()).toEqual(["3-0", "2-0", "4-0"]);
  });

  it("is not found for others", async () => {
    expect((await openStream(api.url, `/v1/workflows/${workflow}/sse`, { key: keys.bob })).status).toBe(404);
  });
});
