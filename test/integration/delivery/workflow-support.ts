import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startDelivery } from "../../../delivery/start.ts";
import { decodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { Route, RouteListener } from "../../../domain/source/deployment.ts";
import { buckets, defaultPool, invokeSubject, partitionCount, streams as names, workflowSubject } from "../../../domain/subjects.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import { readBatch } from "../../../platform/jetstream/read/read-batch.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { deliveryPorts } from "../../../wiring/roles/delivery-ports.ts";
import { withPostgres } from "../../support/postgres.ts";
import { committedEvent } from "../committed-event.ts";
import { withJetStream } from "../jetstream/support.ts";
import { prepareDatabase } from "../postgres/support.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const config = {
  deliveryDeadlineMs: 500,
  attemptsPerWebhook: 4,
  maxDirectListeners: 16,
  attemptTimeoutMs: 1_500,
  nextAttempt: () => undefined,
};

/** A real NATS and Postgres with replicas of the delivery role, and what sources and workflows leave there. */
export function withWorkflowWorld() {
  const postgres = withPostgres();
  const streams = withJetStream({ partitions: partitionCount });
  const running: { stop(): Promise<void> }[] = [];
  const admission = new AdmissionGate(defaultBacklogLimits);
  const sequences = new Map<string, number>();
  let database: Database;
  beforeAll(async () => {
    database = createDatabase({ url: postgres.urlOf("delivery") });
    await prepareDatabase(postgres);
  });
  const stopAll = async (): Promise<void> => {
    for (const delivery of running.splice(0)) await delivery.stop();
  };
  afterEach(stopAll);
  afterAll(() => database.close());

  return {
    postgres,
    streams,
    admission,
    stopAll,
    /** Starts a replica of the delivery role. */
    async start(connection: Connection = streams.connection): Promise<void> {
      const history = createDeliveryHistory(database, { ...(await recordedRuns(connection)), kept: { events: 100, logs: 100 } });
      const poster = { post: () => expect.fail("nothing is posted here") };
      const secrets = { open: async (sealed: string) => sealed };
      const ports = deliveryPorts({ connection, history, poster, secrets, log: silent, admission });
      running.push(await startDelivery(config, ports));
    },
    /** Writes the route of a subscription to a workflow, which is active if it has a pool. @returns the subscription's id */
    async subscribe(emitter: string, workflow: string, { channel = "", pool }: { channel?: string; pool?: string } = {}): Promise<string> {
      const subscription = `sub_${emitter}${workflow}`.replaceAll(/[_*]/g, "");
      const listener: RouteListener = { kind: "workflow", id: workflow, ...(pool === undefined ? {} : { pool }) };
      const route: Route = { subscription, owner: "u_1", emitter, channel, listener };
      await new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route).put(subscription, route);
      return subscription;
    },
    /** A run of the source that emits these numbers. */
    async emit(source: string, ...numbers: readonly number[]): Promise<void> {
      const [first = 0] = numbers;
      const run = {
        id: `r_${source}x${first}`,
        trigger: "http",
        generation: 1,
        startedAt: 1,
        durationMs: 1,
        cpuMs: 1,
        result: null,
      } as const;
      const events = numbers.map((n) => committedEvent(`${n}-0`, { emitId: `em_${source}x${n}`, payload: String(n) }));
      const text: Commit = { source, owner: "u_1", deployment: "d_1", run, events, logs: [], error: null, state: emptyState };
      const ref = { source, owner: "u_1", partition: partitionOf(source) };
      const appended = await appendCommit(streams.connection, ref, JSON.stringify(text), sequences.get(source) ?? 0);
      if (appended.outcome !== "stored") throw new Error(`the commit of ${source} is refused`);
      sequences.set(source, appended.sequence);
    },
    /** Invocations of the source or workflow that are stored in the default pool, oldest first. */
    async invocationsOf(id: string): Promise<readonly Invocation[]> {
      const filter = invokeSubject(defaultPool, partitionOf(id), id);
      const found: Invocation[] = [];
      for (let seq = 1; ;) {
        const { messages, isLast } = await readBatch(streams.connection, names.invocations, {
          seq,
          filter,
          messages: 1_000,
          bytes: 2 ** 22,
        });
        found.push(...messages.flatMap((message) => decodePack(message.string())));
        if (isLast) return found;
        seq = (messages.at(-1)?.seq ?? 0) + 1;
      }
    },
    async queuedFor(workflow: string): Promise<number> {
      const { state } = await streams.connection.manager.streams.info(names.workflows, { subjects_filter: workflowSubject(workflow) });
      return state.subjects?.[workflowSubject(workflow)] ?? 0;
    },
  };
}
