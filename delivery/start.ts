import { setTimeout as sleep } from "node:timers/promises";
import { partitionCount } from "../domain/subjects.ts";
import { AttemptBuffer } from "./attempt-buffer.ts";
import { commitOf } from "./commit-of.ts";
import { Chains } from "./chains.ts";
import { Deliverer } from "./deliver.ts";
import { WebhookDeliverer } from "./deliverers/webhook.ts";
import type { Delivery, ScheduledEvent } from "./delivery.ts";
import { readDueWork, type DueReading } from "./due-work.ts";
import { Endpoints } from "./endpoints.ts";
import { FailingEndpoints } from "./failing-endpoints.ts";
import { LineAttempts } from "./line-attempts.ts";
import { Lines } from "./lines.ts";
import { Pending } from "./pending.ts";
import type { DeliveryConfig, DeliveryPorts, PartitionReading } from "./ports.ts";
import { startQuotas } from "./quotas.ts";
import { Recorder } from "./recorder.ts";
import { pacedDispatch } from "./replay-pace.ts";
import { replayEvent } from "./replay.ts";
import { routeCommit, type Dispatch } from "./router.ts";
import { Routes } from "./routes.ts";
import { ScheduledEvents } from "./scheduled-events.ts";
import { tellDisabled } from "./tell-disabled.ts";
import { testWebhook } from "./test-webhook.ts";
import { assertDone, untilDone } from "./until-done.ts";

export interface StartedDelivery {
  /** Deliveries in the lines of ordered webhooks. */
  inLine(): number;
  stop(): Promise<void>;
}

/** Starts the delivery role: router with first attempts, due deliveries, recorder. Routes are known before the first commit is read. */
export async function startDelivery(config: DeliveryConfig, ports: DeliveryPorts): Promise<StartedDelivery> {
  const routes = new Routes();
  const failing = new FailingEndpoints(config, ports, (delivery, disabled) => tellDisabled(delivery, disabled, routes, ports));
  const attempts = new AttemptBuffer(ports, failing);
  const endpoints = new Endpoints(config.attemptsPerWebhook);
  const posting = { endpoints, failing, webhooks: new WebhookDeliverer(ports), attempts };
  const deliverer = new Deliverer(config, ports, posting);
  const lines = new Lines({ config, ports, attempts: new LineAttempts(config, ports, posting, routes) });
  const stopping = new AbortController();
  const { signal } = stopping;

  await loadFailing(failing, ports, signal);
  const watching = await ports.routes.watch((id, route) => {
    const before = routes.webhook(id);
    routes.set(id, route);
    lines.changed(id, before, routes.webhook(id));
  });
  await lines.start(routes);
  const recorder = new Recorder(ports);
  const quotas = startQuotas(ports);
  const dispatch = dispatchOf(deliverer, lines, ports, signal);
  const scheduled = new ScheduledEvents(ports, routes, dispatch, config.maxDirectListeners, signal);
  const due = await readDueWork({ deliverer, routes, lines, scheduled, ports, signal });
  const tests = await ports.tests.serve((request) => testWebhook(request, routes, deliverer, ports));
  const parts = { config, ports, routes, dispatch, scheduled, signal };
  const routing = startRouting(parts);
  for (let partition = 0; partition < partitionCount; partition++) recorder.open(partition);
  await Promise.all(Array.from({ length: partitionCount }, (_, partition) => routing.open(partition)));
  const trimming = ports.runs.startTrimming();
  const replaying = await startReplaying(parts);

  return {
    inLine: () => lines.length,
    stop: async () => {
      await Promise.all([routing.stop(), replaying.stop(), due.stop(), tests.stop()]);
      // What is settled now is not repeated by the next process.
      await atMost(settleMs, Promise.all([routing.idle(), replaying.idle(), due.idle()]));
      stopping.abort();
      await Promise.all([recorder.stop(), quotas.stop(), watching.stop(), trimming.stop()]);
      await lines.stop();
      await deliverer.drain();
      await attempts.stop();
      await ports.runs.close();
    },
  };
}

/** First attempts take their patience, a second, until they have ended or are messages of their own; the rest is for a slow NATS. */
const settleMs = 3_000;

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: enough.signal }).catch(() => undefined)]);
  enough.abort();
}

/** Without Postgres no endpoint counts as failing at first: what is known of them is added once it answers. */
async function loadFailing(failing: FailingEndpoints, ports: DeliveryPorts, signal: AbortSignal): Promise<void> {
  try {
    await failing.load();
  } catch (error) {
    ports.log.warn({ op: "webhook.load", err: error }, "it is not known yet which endpoints fail, trying again");
    void untilDone(() => failing.load(), { id: "failing endpoints" }, ports, signal); // Never rejects.
  }
}

interface RoutingParts {
  readonly config: DeliveryConfig;
  readonly ports: DeliveryPorts;
  readonly routes: Routes;
  readonly dispatch: Dispatch;
  readonly scheduled: ScheduledEvents;
  readonly signal: AbortSignal;
}

function startRouting({ config, ports, routes, dispatch, scheduled, signal }: RoutingParts): PartitionReading {
  const chains = new Chains();
  const commitDispatch = {
    ...dispatch,
    scheduled: (event: ScheduledEvent) =>
      untilDone(() => scheduled.schedule(event), { id: event.event.emitId }, ports, signal).then(assertDone),
  };
  return ports.runs.route((text, done, subject, position) => {
    const commit = commitOf(text, subject, ports.log);
    if (commit === undefined) return done();
    // Not done, it is read again after the restart.
    const report = (error: unknown): void => {
      if (!signal.aborted) ports.log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed");
    };
    const listeners = routes.at(position);
    routeCommit({ commit, position }, listeners, chains, commitDispatch, config.maxDirectListeners, ports.clock.now()).then(done, report);
  });
}

async function startReplaying({ config, ports, routes, dispatch, signal }: RoutingParts): Promise<DueReading> {
  const replayDispatch = pacedDispatch(dispatch, routes, ports, config.replayPace);
  const pending = new Pending();
  const reading = await ports.replays.read((text, done) => {
    const report = (error: unknown): void => {
      if (!signal.aborted) ports.log.error({ op: "event.replay", err: error }, "an event is not replayed");
    };
    pending.add(replayEvent(text, routes, replayDispatch, config.maxDirectListeners, ports.clock.now()).then(done, report));
  });
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}

function dispatchOf(deliverer: Deliverer, lines: Lines, ports: DeliveryPorts, signal: AbortSignal): Dispatch {
  const settled = (act: () => Promise<void>, delivery: Delivery): Promise<void> =>
    untilDone(act, delivery, ports, signal, (error) => deliverer.abandon(delivery, error)).then(assertDone);
  return {
    direct: (delivery, route, waitedMs) => settled(() => deliverer.direct(delivery, route, waitedMs), delivery),
    later: (delivery, atMs) => settled(() => deliverer.later(delivery, atMs), delivery),
    inLine: (webhook, deliveries, position) => lines.append(webhook, deliveries, position),
  };
}
