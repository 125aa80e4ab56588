import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startDelivery } from "../../../delivery/start.ts";
import { decodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { emptyState, type Commit, type WorkflowCommit } from "../../../domain/run/commit.ts";
import type { Route, RouteListener } from "../../../domain/source/deployment.ts";
import {
  buckets,
  defaultPool,
  invokeSubject,
  partitionCount,
  streams as names,
  waitingFilter,
  workflowRunSubject,
} from "../../../domain/subjects.ts";
import { endMarker, endMarkerTtlSeconds } from "../../../domain/workflow/run-commit.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import { readBatch } from "../../../platform/jetstream/read/read-batch.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { recordedRuns } from "../../../platform/jetstream/streams/stream-identity.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createDeliveryHistory } from "../../../platform/postgres/history/delivery-history.ts";
import { deliveryPorts, type DeliveryParts } from "../../../wiring/roles/delivery-ports.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { committedEvent } from "../committed-event.ts";
import { withJetStream } from "../jetstream/support.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const config = {
  deliveryDeadlineMs: 600_000,
  attemptsPerWebhook: 4,
  maxDirectListeners: 16,
  attemptTimeoutMs: 600_000,
  nextAttempt: () => undefined,
};

function endOfRun(source: string, id: string): WorkflowCommit {
  const run = { id, trigger: "http", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
  const trigger = { kind: "http", event: "{}", at: 1 } as const;
  const state: WorkflowCommit["state"] = {
    status: "succeeded",
    deployment: "d_1",
    startedAt: 1,
    trigger,
    next: 1,
    failures: 0,
    reruns: 0,
    rerunContext: null,
    steps: {},
    sends: [],
    response: null,
    suspension: null,
    suspensions: 0,
    resumedBy: null,
  };
  const workflow = { status: "succeeded", number: 1, startedAt: 1, stepCount: 0 } as const;
  return { source, owner: "u_1", deployment: "d_1", run, events: [], logs: [], error: null, workflow, state };
}

/** A real NATS and Postgres with replicas of the delivery role, and what sources and workflows leave there. */
export function withWorkflowWorld() {
  const postgres = withMigratedPostgres();
  const streams = withJetStream({ partitions: partitionCount });
  const running: { stop(): Promise<void> }[] = [];
  const admission = new AdmissionGate(defaultBacklogLimits);
  const sequences = new Map<string, number>();
  let database: Database;
  beforeAll(async () => {
    database = createDatabase({ url: postgres.urlOf("delivery") });
  });
  const stopAll = async (): Promise<void> => {
    for (const delivery of running.splice(0)) await delivery.stop();
  };
  const putRoute = (route: Route): Promise<unknown> =>
    new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route).put(route.subscription, route);
  /** A run of the owner's source that emits these payloads, JSON texts. */
  const emitOf = async (owner: string, source: string, ...payloads: readonly (readonly [n: number, payload: string])[]): Promise<void> => {
    const first = payloads[0]?.[0] ?? 0;
    const id = `r_${source}x${first}`;
    const run = { id, trigger: "http", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
    const events = payloads.map(([n, payload]) => committedEvent(`${n}-0`, { emitId: `em_${source}x${n}`, payload }));
    const text: Commit = { source, owner, deployment: "d_1", run, events, logs: [], error: null, state: emptyState };
    const ref = { source, owner, partition: partitionOf(source) };
    const appended = await appendCommit(streams.connection, ref, JSON.stringify(text), sequences.get(source) ?? 0);
    if (appended.outcome !== "stored") throw new Error(`the commit of ${source} is refused`);
    sequences.set(source, appended.sequence);
  };
  const deleteRoute = (subscription: string): Promise<unknown> =>
    new Bucket<Route>(streams.connection, buckets.routes, (json) => json as Route).delete(subscription);
  afterEach(stopAll);
  afterAll(() => database.close());

  return {
    postgres,
    streams,
    admission,
    stopAll,
    /** Starts a replica of the delivery role. */
    async start(connection: Connection = streams.connection, parts: Partial<DeliveryParts> = {}, changes = {}): Promise<void> {
      const history = createDeliveryHistory(database, { ...(await recordedRuns(connection)), kept: { events: 100, logs: 100 } });
      const poster = { post: () => expect.fail("nothing is posted here") };
      const secrets = { open: async (sealed: string) => sealed };
      const ports = deliveryPorts({ connection, history, poster, secrets, log: silent, admission, ...parts });
      running.push(await startDelivery({ ...config, ...changes }, ports));
    },
    database: () => database,
    /** Writes the route of a subscription to a workflow, which is active if it has a pool. @returns the subscription's id */
    async subscribe(emitter: string, workflow: string, options: { channel?: string; pool?: string; owner?: string } = {}): Promise<string> {
      const { channel = "", pool, owner = "u_1" } = options;
      const subscription = `sub_${emitter}${workflow}`.replaceAll(/[_*]/g, "");
      const listener: RouteListener = { kind: "workflow", id: workflow, ...(pool === undefined ? {} : { pool }) };
      await putRoute({ subscription, owner, emitter, channel, listener });
      return subscription;
    },
    putRoute,
    deleteRoute,
    /** Writes the own entry of a workflow, which is active if it has a pool. */
    putWorkflow: (workflow: string, options: { owner?: string; pool?: string } = {}): Promise<unknown> => {
      const { owner = "u_1", pool } = options;
      const listener: RouteListener = { kind: "workflow", id: workflow, ...(pool === undefined ? {} : { pool }) };
      return putRoute({ subscription: workflow, owner, emitter: workflow, channel: "", listener });
    },
    emitOf,
    /** A run of the source that emits these numbers. */
    emit: (source: string, ...numbers: readonly number[]): Promise<void> =>
      emitOf("u_1", source, ...numbers.map((n) => [n, String(n)] as const)),
    /** The commit that ends a run of the workflow, followed by the end marker. */
    async endRun(workflow: string, run: string, given: Partial<Omit<WorkflowCommit, "run" | "source">> = {}): Promise<void> {
      const owner = given.owner ?? "u_1";
      const commit: WorkflowCommit = { ...endOfRun(workflow, run), ...given };
      const subject = workflowRunSubject(partitionOf(workflow), owner, workflow, run);
      await streams.connection.publisher.publish(subject, JSON.stringify(commit));
      await streams.connection.publisher.publish(subject, endMarker, { headers: { "Nats-TTL": `${endMarkerTtlSeconds}s` } });
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
      const { state } = await streams.connection.manager.streams.info(names.workflows, { subjects_filter: waitingFilter(workflow) });
      return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
    },
  };
}
