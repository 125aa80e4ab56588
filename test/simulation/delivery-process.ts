import { startDelivery } from "../../delivery/start.ts";
import type { DeliveryConfig, DeliveryPorts } from "../../delivery/ports.ts";
import type { DueReaders } from "../../delivery/attempts/ports.ts";
import type { OrderedAccess } from "../../delivery/ordered/ports.ts";
import { Unavailable } from "../../domain/errors.ts";
import { retry } from "../../domain/retry.ts";
import { scheduledEvents } from "../../domain/subjects.ts";
import type { DueMessage } from "./deliveries-model.ts";
import { Feed } from "./feed.ts";
import { FollowedPartitions } from "./followed-partitions.ts";
import { joinGroup } from "./group-model.ts";
import type { SimulatedProcess } from "./process.ts";
import { runsStream, type FloorKind, type StoredCommit } from "./runs-model.ts";
import type { Servers } from "./servers.ts";

const config: DeliveryConfig = {
  maxDirectListeners: 8,
  deliveryDeadlineMs: 1_000,
  attemptTimeoutMs: 30_000,
  attemptsPerWebhook: 4,
  /** Without end, so that nothing becomes a dead letter. */
  nextAttempt: (attempt, random) => Math.min(60_000, 1_000 * 2 ** Math.min(attempt, 10)) * (0.5 + random / 2),
};
const extendEveryMs = 1_200;
const nothing = (): void => undefined;
const stoppable = { stop: async () => undefined };

/** Starts the delivery role in a process. @returns what stops it */
export async function startDeliveryIn(
  process: SimulatedProcess,
  servers: Servers,
  log: DeliveryPorts["log"],
): Promise<() => Promise<void>> {
  const delivery = await process.run(() => startDelivery(config, portsOf(process, servers, log)));
  return () => process.run(() => delivery.stop());
}

function portsOf(process: SimulatedProcess, servers: Servers, log: DeliveryPorts["log"]): DeliveryPorts {
  const { deliveries, history } = servers;
  const nats = <Answer>(effect: () => Answer): Promise<Answer> => process.request("nats", effect);
  const postgres = <Answer>(effect: () => Answer): Promise<Answer> => process.request("postgres", effect);
  const unused = (): Promise<never> => Promise.reject(new Error("no simulation does this"));
  return {
    runs: runsOf(process, servers),
    routes: {
      watch: async (onEntry) => {
        for (const route of await nats(() => servers.routes)) onEntry(route.subscription, route);
        return stoppable;
      },
    },
    replays: { read: async () => stoppable },
    replicas: replicasOf(process, servers),
    announce: nothing,
    deliveries: {
      schedule: (...args) => nats(() => deliveries.schedule(...args)),
      withdraw: (...args) => nats(() => deliveries.withdraw(...args)),
      findScheduled: (...args) => nats(() => deliveries.findScheduled(...args)),
      read: (readers) => readDue(process, servers, readers),
    },
    poster: { post: (request) => servers.receivers.post(process, request) },
    invocations: { request: (_pool, _listener, invocation, messageId) => nats(() => servers.invocations.publish(invocation, messageId)) },
    workflows: { store: unused, waiting: unused, listQueued: () => nats(() => []), findNext: unused, removeUpTo: unused },
    tests: { serve: async () => stoppable },
    admission: { admits: () => true },
    queueStore: {
      list: (partition) => nats(() => deliveries.listQueues(partition)),
      findNext: (...args) => nats(() => deliveries.findNext(...args)),
      findLast: (key) => nats(() => deliveries.findLast(key)),
      append: (...args) => nats(() => deliveries.append(...args)),
      remove: (sequence) => nats(() => deliveries.remove(sequence)),
      removeAll: (...args) => nats(() => deliveries.removeAll(...args)),
      listScheduled: (webhook) => nats(() => deliveries.listScheduled(webhook)),
    },
    orderedRequests: orderedRequestsOf(process, servers),
    formerQueues: { next: () => nats(() => undefined) },
    history: {
      positions: () => postgres(() => history.positions()),
      recordCommits: (...args) => postgres(() => history.recordCommits(...args)),
      recordAttempts: () => postgres(nothing),
      recordDeadLetters: (letters) => postgres(() => void history.deadLetters.push(...letters)),
      findDeadLetter: () => postgres(() => undefined),
      oldestDeadLetters: () => postgres(() => []),
      removeDeadLetters: () => postgres(nothing),
      scheduledEvent: unused,
      emitScheduledEvent: unused,
      listFailingWebhooks: () => postgres(() => [...history.failing.values()]),
      saveWebhookFailures: (...args) => postgres(() => history.saveFailing(...args)),
      listOverQuota: () => postgres(() => []),
      listWeights: () => postgres(() => new Map()),
    },
    ownerLimits: {
      list: () => nats(() => []),
      block: () => nats(nothing),
      unblock: () => nats(nothing),
      setWeight: () => nats(nothing),
      removeWeight: () => nats(nothing),
    },
    secrets: { open: async () => `whsec_${Buffer.alloc(24, 1).toString("base64")}` },
    hmac: (_key, text) => String(text.length),
    clock: process.clock,
    random: process.random,
    log,
  };
}

function runsOf(process: SimulatedProcess, { runs }: Servers): DeliveryPorts["runs"] {
  const readers: FollowedPartitions[] = [];
  const follow = (kind: FloorKind, onCommit: (commit: StoredCommit, done: () => void) => void): FollowedPartitions => {
    const followed = new FollowedPartitions(process, runs, kind, onCommit);
    readers.push(followed);
    return followed;
  };
  const publishFloors = async (): Promise<boolean> => (await Promise.all(readers.map((each) => each.publish()))).every(Boolean);
  return {
    route: (onCommit) => {
      const routed = follow("routed", ({ text, subject, seq }, done) => onCommit(text, done, subject, { stream: runsStream, seq }));
      return {
        ...routed.asReading(),
        floor: async (partition) => ({ stream: runsStream, seq: await routed.floorOf(partition) }),
        open: (partition, { seq: floor }) => retry(() => routed.open(partition, floor), { firstMs: 500 }),
      };
    },
    record: (onCommit) => {
      const recorded = follow("recorded", ({ text, subject, seq }, done) => onCommit(text, seq, subject, done));
      return { ...recorded.asReading(), open: (partition, after) => retry(() => recorded.open(partition, after), { firstMs: 500 }) };
    },
    publishFloors,
    startTrimming: () => stoppable,
    close: async () => void (await publishFloors()),
  };
}

function replicasOf(process: SimulatedProcess, { replicas }: Servers): DeliveryPorts["replicas"] {
  let isCurrent: (() => boolean) | undefined;
  return {
    replica: process.name,
    join: async ({ onMembers, holds, onLapse }) => {
      const joined = await joinGroup(replicas, process, process.name, { onMembers, onLapse, report: () => ({ holds: holds() }) });
      isCurrent = joined.isCurrent;
      return joined;
    },
    heldByOthers: () => process.request("nats", () => replicas.heldByOthers(process.name)),
    isCurrent: () => isCurrent?.() ?? false,
  };
}

/** By the rules of `platform/jetstream/deliveries/due-deliveries.ts`: what is at work is not handed to others. */
async function readDue(
  process: SimulatedProcess,
  { deliveries }: Servers,
  { onDue, onEvent }: DueReaders,
): Promise<{ stop(): Promise<void> }> {
  const held = new Set<number>();
  const feed = new Feed<DueMessage>(process, ({ seq, webhook, text }) => {
    if (held.has(seq)) return;
    held.add(seq);
    const ack = (): void => {
      held.delete(seq);
      process.send("nats", () => deliveries.ack(seq));
    };
    if (webhook === scheduledEvents) onEvent(text, seq, ack);
    else onDue(text, seq, ack);
  });
  await feed.open(() => deliveries.read(feed));
  const extending = setInterval(() => {
    const seqs = [...held];
    if (seqs.length > 0) process.send("nats", () => deliveries.extend(seqs));
  }, extendEveryMs);
  return {
    stop: async () => {
      feed.close();
      clearInterval(extending);
    },
  };
}

function orderedRequestsOf(process: SimulatedProcess, { orderedQueues }: Servers): DeliveryPorts["orderedRequests"] {
  const remote = (partition: number, act: (access: OrderedAccess) => Promise<void>): Promise<void> => {
    const reached = orderedQueues.filter((each) => each.partition === partition && each.process.isAlive && each.process.isConnected);
    const serving = reached[Math.floor(process.random() * reached.length)];
    if (serving === undefined || !process.isConnected)
      return Promise.reject(new Unavailable(`no replica answers for partition ${partition}: try again in a moment`));
    return new Promise((resolve, reject) => {
      process.after(5_000, () => reject(new Unavailable(`no replica answers for partition ${partition}: try again in a moment`)));
      serving.process.after(1, () => {
        const answer = (code: () => void) => (): void => void process.after(1, code);
        act(serving.access).then(answer(resolve), (error: unknown) => answer(() => reject(error as Error))());
      });
    });
  };
  return {
    serve: async (partition, access) => {
      const serving = { partition, process, access };
      await process.request("nats", () => orderedQueues.push(serving));
      return {
        stop: async () => {
          const index = orderedQueues.indexOf(serving);
          if (index >= 0) orderedQueues.splice(index, 1);
        },
      };
    },
    remote: (partition) => ({
      append: (delivery) => remote(partition, (access) => access.append(delivery)),
      attempt: (delivery) => remote(partition, (access) => access.attempt(delivery)),
    }),
  };
}
