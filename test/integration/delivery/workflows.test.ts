import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { buckets, partitionCount, streams as names, waitingSubject } from "../../../domain/subjects.ts";
import { decodeDelivery, type Delivery } from "../../../delivery/routing/delivery.ts";
import { startDelivery } from "../../../delivery/start.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { committedEvent as event } from "../committed-event.ts";
import { withJetStream } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

const postgres = withMigratedPostgres();
const streams = withJetStream({ partitions: partitionCount });
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const config = {
  deliveryDeadlineMs: 600_000,
  attemptsPerWebhook: 4,
  maxDirectListeners: 1,
  attemptTimeoutMs: 600_000,
  nextAttempt: () => undefined,
};
const running: { stop(): Promise<void> }[] = [];
let database: Database;

beforeAll(async () => {
  database = createDatabase({ url: postgres.urlOf("delivery") });
});
afterEach(async () => {
  for (const delivery of running.splice(0)) await delivery.stop();
});
afterAll(() => database.close());

async function start(): Promise<void> {
  const ports = deliveryPorts({
    connection: streams.connection,
    history: createDeliveryHistory(database, { ...(await recordedRuns(streams.connection)), kept: { events: 100, logs: 100 } }),
    poster: { post: () => expect.fail("nothing is posted here") },
    secrets: { open: async (sealed) => sealed },
    log: silent,
  });
  running.push(await startDelivery(config, ports));
}

/** The target of a route that names the workflow as its listener. */
async function subscribe(emitter: string, workflow: string, channel = ""): Promise<string> {
  const subscription = `sub_${emitter}${workflow}`.replaceAll("_", "");
  const route: Route = { subscription, owner: "u_1", emitter, channel, listener: { kind: "workflow", id: workflow } };
  await new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route).put(subscription, route);
  return subscription;
}

async function commit(source: string, events: readonly CommittedEvent[], error: Commit["error"] = null): Promise<void> {
  const run = { id: `r_${source}`, trigger: "http", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
  const given: Commit = { source, owner: "u_1", deployment: "d_1", run, events, logs: [], error, state: emptyState };
  const place = { source, owner: "u_1", partition: partitionOf(source) };
  expect((await appendCommit(streams.connection, place, JSON.stringify(given), 0)).outcome).toBe("stored");
}

/** Stored messages of a workflow, oldest first; removes nothing. */
async function queueOf(workflow: string): Promise<readonly Delivery[]> {
  const { manager } = streams.connection;
  const { state } = await manager.streams.info(names.workflows);
  const kept: Delivery[] = [];
  // An empty stream's first sequence cannot be read.
  if (state.messages === 0) return kept;
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(names.workflows, { seq });
    if (message?.subject.startsWith(`workflow.${workflow}.`) === true) kept.push(decodeDelivery(message.string()));
  }
  return kept;
}

it("stores deliveries to a workflow complete, in order, and for that workflow only", async () => {
  const subscription = await subscribe("dc_one", "p_one");
  await subscribe("dc_one", "p_two");
  await subscribe("dc_other", "p_three");
  await start();
  await commit("dc_one", [event("1-0", { payload: '{"n":1}' }), event("1-1", { payload: '{"n":2}' }), event("1-2", { channel: "else" })]);
  await until(async () => (await queueOf("p_one")).length === 2 && (await queueOf("p_two")).length === 2, "two events in two queues");
  const [first, second] = await queueOf("p_one");
  expect(first).toMatchObject({
    id: `em_1-0.${subscription}`,
    listener: "p_one",
    event: { eventId: "1-0", emitId: "em_1-0", source: "dc_one", owner: "u_1", channel: "", payload: '{"n":1}' },
  });
  expect(second?.event.payload).toBe('{"n":2}');
  expect(await queueOf("p_three")).toEqual([]);
});

it("retains `$errors` for its subscribers and delivers scheduled events when they are due", async () => {
  await subscribe("dc_failing", "p_errors", "$errors");
  await subscribe("dc_failing", "p_late");
  await start();
  const error = { name: "Error", message: "no", stack: "" };
  const due = Date.now() + 200;
  await commit("dc_failing", [event("2-0", { deliverAt: due })], error);
  await until(async () => (await queueOf("p_errors")).length === 1 && (await queueOf("p_late")).length === 1, "an error and an event");
  expect(Date.now()).toBeGreaterThanOrEqual(due);
  expect((await queueOf("p_errors"))[0]?.event).toMatchObject({ channel: "$errors", source: "dc_failing" });
});

it("stores a delivery once across a restart of the delivery role", async () => {
  const subscription = await subscribe("dc_again", "p_again");
  await start();
  await commit("dc_again", [event("3-0")]);
  await until(async () => (await queueOf("p_again")).length === 1, "one event");
  for (const delivery of running.splice(0)) await delivery.stop();
  await start();
  // As after a crash before the commit was acked.
  const text = JSON.stringify((await queueOf("p_again"))[0]);
  const { duplicate } = await streams.connection.publisher.publish(waitingSubject("p_again", "u_1", 0), text, {
    messageId: `em_3-0.${subscription}`,
  });
  expect([duplicate, (await queueOf("p_again")).length]).toEqual([true, 1]);
});
