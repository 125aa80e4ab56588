import { z } from "zod";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { decodePack, encodePack, type Invocation, type InvocationNumber } from "../../../domain/invocation/invocation.ts";
import { maxReportedSkips, skipReasons } from "../../../domain/schedule/ticks.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import {
  deploymentKey,
  invokeSubject,
  partitionCount,
  poolRequests,
  poolRequestSubject,
  runnerConsumer,
  streams,
  timerSubject,
  wakeUpSubject,
  type PoolRequest,
} from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import type { Stoppable } from "../connection/link.ts";
import { deploymentEntries, moveInvocation, workflowEntries } from "./moves.ts";
import { hasConsumer, setUpPool } from "./pool-consumers.ts";
import { request, serve, type Service } from "../requests/request-reply.ts";
import { serveStreamUsage } from "../requests/stream-usage.ts";
import { publishScheduled, setTimer } from "../schedules.ts";
import { publishInvocation } from "./publish-invocation.ts";

/**
 * A runner has no right to write into INVOCATIONS: a schedule names its target in a header, which NATS permissions do not check, so a
 * client that may write a schedule can invoke any source. Runners send these requests to delivery instead, which serves them within
 * the runner's own pool.
 */
const workflowId = z.string().regex(/^p_[0-9a-z]{1,57}$/);
const runId = z.string().regex(/^r_\w{1,57}$/);
const moveRequest = z.object({ seq: z.int().positive(), index: z.int().min(0) });
const armRequest = z.object({
  /** A source, or a workflow with a timer trigger. */
  source: z.string().regex(/^(?:dc|p)_[A-Za-z0-9_-]+$/),
  prop: z.string().min(1).max(255),
  atMs: z.int(),
  invocation: z.object({
    source: z.string(),
    trigger: z.literal("timer"),
    generation: z.int().exactOptional(),
    chain: z.string(),
    at: z.int(),
    dueAt: z.int().exactOptional(),
    event: z.json().exactOptional(),
    skippedTicks: z.int().exactOptional(),
    lastRun: z.object({ id: runId, startedAt: z.int() }).exactOptional(),
    skips: z
      .array(z.object({ dueAt: z.int(), reason: z.enum(skipReasons) }))
      .max(maxReportedSkips)
      .exactOptional(),
    backfill: z.object({ until: z.int(), inTurn: z.boolean() }).exactOptional(),
  }),
});
export type ArmRequest = z.infer<typeof armRequest>;
const cancelRequest = z.object({ workflow: workflowId, run: runId, reason: z.string().max(1_000) });
export type CancelRequest = z.infer<typeof cancelRequest>;
const wakeRequest = z.object({
  workflow: workflowId,
  run: runId,
  suspension: z.int().positive(),
  atMs: z.int(),
});
export type WakeRequest = z.infer<typeof wakeRequest>;

const notAnswering = { message: "no delivery process answers: the role delivery does what runners request" };
const service: Service = {
  queue: "pool-requests",
  timeoutMs: 5_000,
  noReply: { absent: notAnswering, late: notAnswering, unreachable: notAnswering },
};

/** Serves the requests of all pools; each goes to one of the delivery processes. */
export async function servePoolRequests(connection: Connection): Promise<Stoppable> {
  const handlers = poolHandlers(connection);
  const serving = await Promise.all([
    ...serveStreamUsage(connection),
    ...poolRequests.map((kind) =>
      serve(connection.nats, poolRequestSubject("*", kind), service, (body, subject) => handlers[kind](subject.split(".")[1] ?? "", body)),
    ),
  ]);
  return {
    stop: async () => {
      await Promise.all(serving.map((each) => each.stop()));
    },
  };
}

type PoolHandler = (pool: string, body: unknown) => Promise<void>;

const poolHandlers = (connection: Connection): Readonly<Record<PoolRequest, PoolHandler>> => ({
  consumers: (pool) => setUpPool(connection, { pool }),
  move: async (pool, body) => moveInvocation(connection, pool, moveRequest.parse(body)),
  arm: async (pool, body) => arm(connection, pool, armRequest.parse(body)),
  cancel: async (pool, body) => cancel(connection, pool, cancelRequest.parse(body)),
  wake: async (pool, body) => wake(connection, pool, wakeRequest.parse(body)),
});

/**
 * Schedules the next link of a chained timer, targeting the pool that its source runs in now. A tick that is repeated after a crash may be
 * long behind the chain, which then stays as it is.
 */
async function arm(connection: Connection, pool: string, { source, prop, atMs, invocation }: ArmRequest): Promise<void> {
  const entry = await deploymentEntries(connection).get(deploymentKey(pool, source));
  if (entry === undefined || invocation.source !== source || invocation.chain !== prop) return;
  if (await isBehind(connection, source, prop, invocation)) return;
  const target = invokeSubject(hasMoved(entry) ? entry.movedTo : pool, partitionOf(source), source);
  await setTimer(connection.publisher, {
    source,
    prop,
    schedule: { kind: "at", atMs },
    target,
    body: encodePack([JSON.stringify(invocation satisfies Invocation)]),
    messageId: `chain.${source}.${prop}.${invocation.generation ?? 0}.${atMs}`,
  });
}

/** Whether a later tick of the chain, or one of a later version of its timer, is armed. */
async function isBehind({ manager }: Connection, source: string, prop: string, link: ArmRequest["invocation"]): Promise<boolean> {
  const armed = await manager.direct
    .getMessage(streams.invocations, { last_by_subj: timerSubject(source, prop) })
    .catch((error: unknown) => (isMessageNotFound(error) ? null : Promise.reject(error)));
  const [{ at = 0, generation = 0 } = {}] = armed === null ? [] : decodePack(armed.string());
  return generation > (link.generation ?? 0) || (generation === link.generation && at > link.at);
}

/** Cancels a run of a workflow, as the API does. */
async function cancel(connection: Connection, pool: string, { workflow, run, reason }: CancelRequest): Promise<void> {
  const entry = await workflowEntries(connection).get(deploymentKey(pool, workflow));
  if (entry === undefined) return;
  const invocation: Invocation = { source: workflow, trigger: "control", run, control: { run, action: "cancel", reason } };
  const target = hasMoved(entry) ? entry.movedTo : pool;
  await publishInvocation(connection, { pool: target, source: workflow, text: JSON.stringify(invocation), messageId: `cancel.${run}` });
}

/**
 * Schedules the wake-up of a suspended run; it replaces an earlier one of the same run. Without a message id: what was replaced by another
 * suspension of the run may have to be scheduled again.
 */
async function wake(connection: Connection, pool: string, { workflow, run, suspension, atMs }: WakeRequest): Promise<void> {
  const entry = await workflowEntries(connection).get(deploymentKey(pool, workflow));
  if (entry === undefined) return;
  const invocation: Invocation = { source: workflow, trigger: "resume", at: atMs, resume: { run, suspension, action: "wake" } };
  await publishScheduled(connection.publisher, {
    subject: wakeUpSubject(workflow, run),
    schedule: { kind: "at", atMs },
    target: invokeSubject(hasMoved(entry) ? entry.movedTo : pool, partitionOf(workflow), workflow),
    body: encodePack([JSON.stringify(invocation)]),
  });
}

/** Moves an invocation to the pool that its source runs in. @throws Unavailable when delivery or NATS cannot do it now */
export const requestMove = (connection: Connection, pool: string, number: InvocationNumber): Promise<void> =>
  sendToDelivery(connection, pool, "move", number);

/** Schedules the next link of a chained timer. @throws Unavailable when delivery or NATS cannot do it now */
export const requestArm = (connection: Connection, pool: string, request: ArmRequest): Promise<void> =>
  sendToDelivery(connection, pool, "arm", request);

/** Cancels a run of a workflow. @throws Unavailable when delivery or NATS cannot do it now */
export const requestCancel = (connection: Connection, pool: string, request: CancelRequest): Promise<void> =>
  sendToDelivery(connection, pool, "cancel", request);

/** Schedules the wake-up of a suspended run. @throws Unavailable when delivery or NATS cannot do it now */
export const requestWakeUp = (connection: Connection, pool: string, request: WakeRequest): Promise<void> =>
  sendToDelivery(connection, pool, "wake", request);

/** Creates the missing consumers of the pool. @throws Unavailable when delivery or NATS cannot do it now */
export const requestConsumers = (connection: Connection, pool: string): Promise<void> => sendToDelivery(connection, pool, "consumers", {});

/** For a runner, which has no right to create consumers: waits until its pool has all of them. @throws Unavailable after `timeoutMs` */
export async function waitForPool(connection: Connection, pool: string, timeoutMs = 30_000): Promise<void> {
  const isPresent = (partition: number): Promise<boolean> => hasConsumer(connection, runnerConsumer(pool, partition));
  const isSetUp = async (): Promise<boolean> => {
    for (let partition = 0; partition < partitionCount; partition++) {
      if (await isPresent(partition)) continue;
      const isCreated = requestConsumers(connection, pool).then(
        () => true,
        () => false, // No delivery process answers yet.
      );
      if (!(await isCreated) || !(await isPresent(partition))) return false;
    }
    return true;
  };
  if (await waitUntil(isSetUp, timeoutMs, 250)) return;
  throw new Unavailable(`pool '${pool}' is not set up: the operator creates its consumers when a RunnerPool of that name exists`);
}

async function sendToDelivery(connection: Connection, pool: string, kind: PoolRequest, body: object): Promise<void> {
  const subject = poolRequestSubject(pool, kind);
  await request(connection.nats, subject, service, body).catch((cause: unknown) => {
    if (cause instanceof Unavailable) throw cause;
    throw new Unavailable(`the request on '${subject}' failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
}
