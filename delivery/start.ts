import { AttemptBuffer } from "./attempt-buffer.ts";
import { commitOf } from "./commit-of.ts";
import { Chains } from "./chains.ts";
import { Deliverer } from "./deliver.ts";
import { WebhookDeliverer } from "./deliverers/webhook.ts";
import { decodeDelivery, type Delivery, type ScheduledEvent } from "./delivery.ts";
import { Endpoints } from "./endpoints.ts";
import { FailingEndpoints } from "./failing-endpoints.ts";
import { LineAttempts } from "./line-attempts.ts";
import { Lines } from "./lines.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import { startQuotas } from "./quotas.ts";
import { startRecorder } from "./recorder.ts";
import { pacedDispatch } from "./replay-pace.ts";
import { replayEvent } from "./replay.ts";
import { redeliver } from "./redeliver.ts";
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

  await failing.load();
  const watching = await ports.routes.watch((id, route) => {
    const before = routes.webhook(id);
    routes.set(id, route);
    lines.changed(id, before, routes.webhook(id));
  });
  await lines.start(routes);
  const recording = await startRecorder(ports);
  const quotas = startQuotas(ports);
  const dispatch = dispatchOf(deliverer, lines, ports, stopping.signal);
  const scheduled = new ScheduledEvents(ports, routes, dispatch, config.mostDirectListeners, stopping.signal);
  const due = await ports.deliveries.read({
    onDue: (text, ack) => {
      const delivery = decodeDelivery(text);
      void untilDone(() => deliverer.due(delivery, routes), delivery, ports, stopping.signal).then((done) => done && ack()); // Never rejects.
    },
    onEvent: (text, ack) => {
      const event = { id: "a scheduled event" };
      void untilDone(() => scheduled.due(text), event, ports, stopping.signal).then((done) => done && ack()); // Never rejects.
    },
    onRequest: (request, ack) => {
      const asked = { id: request.webhook };
      void untilDone(() => redeliver(request, routes, lines, deliverer, ports), asked, ports, stopping.signal).then(
        (done) => done && ack(),
      ); // Never rejects.
    },
  });
  const tests = await ports.tests.serve((request) => testWebhook(request, routes, deliverer, ports));
  const chains = new Chains();
  const commitDispatch = {
    ...dispatch,
    scheduled: (event: ScheduledEvent) =>
      untilDone(() => scheduled.schedule(event), { id: event.event.emitId }, ports, stopping.signal).then(assertDone),
  };
  const routing = await ports.runs.route((text, done, subject, position) => {
    const commit = commitOf(text, subject, ports.log);
    if (commit === undefined) return done();
    // Not done, it is read again after the restart.
    const tell = (error: unknown): void => {
      if (!stopping.signal.aborted)
        ports.log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed");
    };
    routeCommit({ commit, position }, routes.at(position), chains, commitDispatch, config.mostDirectListeners, ports.clock.now()).then(
      done,
      tell,
    );
  });
  const replayDispatch = pacedDispatch(dispatch, routes, ports, config.replayPace);
  const replaying = await ports.replays.read((text, done) => {
    const tell = (error: unknown): void => {
      if (!stopping.signal.aborted) ports.log.error({ op: "event.replay", err: error }, "an event is not replayed");
    };
    replayEvent(text, routes, replayDispatch, config.mostDirectListeners, ports.clock.now()).then(done, tell);
  });

  return {
    inLine: () => lines.length,
    stop: async () => {
      stopping.abort();
      await Promise.all([routing.stop(), replaying.stop(), due.stop(), tests.stop(), recording.stop(), quotas.stop(), watching.stop()]);
      await lines.stop();
      await deliverer.drain();
      await attempts.stop();
    },
  };
}

function dispatchOf(deliverer: Deliverer, lines: Lines, ports: DeliveryPorts, signal: AbortSignal): Dispatch {
  const settled = (act: () => Promise<void>, delivery: Delivery): Promise<void> => untilDone(act, delivery, ports, signal).then(assertDone);
  return {
    direct: (delivery, route, waitedMs) => settled(() => deliverer.direct(delivery, route, waitedMs), delivery),
    later: (delivery, atMs) => settled(() => deliverer.later(delivery, atMs), delivery),
    inLine: (webhook, deliveries, position) => lines.append(webhook, deliveries, position),
  };
}
