import { pause } from "../domain/retry.ts";
import { AttemptBuffer } from "./attempts/attempt-buffer.ts";
import { commitOf } from "./routing/commit-of.ts";
import { Chains } from "./routing/keyed-chains.ts";
import { Deliverer } from "./attempts/deliver.ts";
import { WebhookDeliverer } from "./deliverers/webhook.ts";
import type { Delivery, ScheduledEvent } from "./routing/delivery.ts";
import { readDueWork, type DueReading } from "./attempts/due-work.ts";
import { Endpoints } from "./attempts/webhook-circuits.ts";
import { FailingEndpoints } from "./attempts/failing-webhooks.ts";
import { QueueAttempts } from "./ordered/queue-attempts.ts";
import { OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import { Pending } from "./pending.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import type { PartitionReading } from "./routing/ports.ts";
import { startQuotas } from "./record/owner-limits.ts";
import { Recorder } from "./record/recorder.ts";
import { pacedDispatch } from "./routing/replay-pace.ts";
import { replayEvent } from "./routing/replays.ts";
import { routeCommit, type Dispatch } from "./routing/router.ts";
import { Routes } from "./routing/routes.ts";
import { ScheduledEvents } from "./routing/scheduled-events.ts";
import { shareWork } from "./routing/shared-work.ts";
import { tellDisabled } from "./attempts/report-disabled.ts";
import { testWebhook } from "./attempts/test-webhook.ts";
import { assertDone, untilDone } from "./settle.ts";

export interface StartedDelivery {
  /** Deliveries in the lines of ordered webhooks. */
  queuedOrdered(): number;
  /** Resolves once this replica works on its share, or could not open all of it at first. */
  untilOpen(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a replica of the delivery role: router with first attempts and recorder for its share of partitions, due deliveries, and ordered
 * webhooks if they are its own. Routes are known before the first commit is read.
 */
export async function startDelivery(config: DeliveryConfig, ports: DeliveryPorts): Promise<StartedDelivery> {
  const routes = new Routes();
  const failing = new FailingEndpoints(config, ports, (delivery, disabled) => tellDisabled(delivery, disabled, routes, ports));
  const attempts = new AttemptBuffer(ports, failing);
  const endpoints = new Endpoints(config.attemptsPerWebhook);
  const posting = { endpoints, failing, webhooks: new WebhookDeliverer(ports), attempts };
  const deliverer = new Deliverer(config, ports, posting);
  const stopping = new AbortController();
  const { signal } = stopping;
  const settled = dispatchOf(deliverer, ports, signal);
  const inOrder = new QueueAttempts(config, ports, posting, routes);
  const ordered = new OrderedWebhooks({ config, ports, routes, attempts: inOrder, dispatch: settled, signal });
  const dispatch: Dispatch = { ...settled, enqueue: (webhook, deliveries) => ordered.append(webhook, deliveries) };

  await followFailing(failing, ports, signal);
  const watching = await ports.routes.watch((id, route) => {
    const [before, webhook] = [routes.find(id), routes.webhook(id)];
    routes.set(id, route);
    ordered.changed(id, webhook, routes.webhook(id));
    ordered.onRoute(before, route);
  });
  const recorder = new Recorder(ports);
  const quotas = startQuotas(ports);
  const scheduled = new ScheduledEvents(ports, routes, dispatch, config.maxDirectListeners, signal);
  const due = await readDueWork({ deliverer, routes, ordered, scheduled, ports, signal });
  const tests = await ports.tests.serve((request) => testWebhook(request, routes, deliverer, ports));
  const parts = { config, ports, routes, dispatch, scheduled, signal };
  const routing = startRouting(parts);
  const replaying = await startReplaying(parts);
  const share = await shareWork({ ports, routing, recorder, ordered });
  const trimming = ports.runs.startTrimming();

  return {
    queuedOrdered: () => ordered.length,
    untilOpen: () => share.untilOpen(),
    stop: async () => {
      // What is settled now is not repeated by another replica.
      const reading = Promise.all([replaying.stop(), due.stop(), tests.stop()]);
      await Promise.all([share.stop(AbortSignal.timeout(settleMs)), reading]);
      await atMost(settleMs, Promise.all([replaying.idle(), due.idle()]));
      stopping.abort();
      await Promise.all([routing.stop(), recorder.stop(), ordered.stop(), quotas.stop(), watching.stop(), trimming.stop()]);
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
  await Promise.race([work, pause(ms, enough.signal)]);
  enough.abort();
}

const readFailingEveryMs = 2_000;

/**
 * Reads now and every two seconds which endpoints fail, which other replicas find out as well. Without Postgres no endpoint counts as
 * failing at first: what is known of them is added once it answers.
 */
async function followFailing(failing: FailingEndpoints, ports: DeliveryPorts, signal: AbortSignal): Promise<void> {
  let isKnown = true;
  const read = async (): Promise<void> => {
    try {
      await failing.load();
      isKnown = true;
    } catch (error) {
      if (isKnown) ports.log.warn({ op: "webhook.load", err: error }, "it is not known now which endpoints fail, trying again");
      isKnown = false;
    }
  };
  await read();
  const readOn = async (): Promise<void> => {
    for (;;) {
      await pause(readFailingEveryMs, signal);
      if (signal.aborted) return;
      await read();
    }
  };
  void readOn(); // Never rejects, and ends with the signal.
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
    const listeners = routes.at(position, "direct");
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

function dispatchOf(deliverer: Deliverer, ports: DeliveryPorts, signal: AbortSignal): Pick<Dispatch, "direct" | "later"> {
  const settled = (act: () => Promise<void>, delivery: Delivery): Promise<void> =>
    untilDone(act, delivery, ports, signal, (error) => deliverer.abandon(delivery, error)).then(assertDone);
  return {
    direct: (delivery, route, waitedMs) => settled(() => deliverer.direct(delivery, route, waitedMs), delivery),
    later: (delivery, atMs) => settled(() => deliverer.later(delivery, atMs), delivery),
  };
}
