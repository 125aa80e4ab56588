import { pause } from "../domain/retry.ts";
import { Attempts } from "./attempts/attempts.ts";
import { Deliverer } from "./attempts/deliver.ts";
import { readDueWork } from "./attempts/due-work.ts";
import { reportDisabled } from "./attempts/report-disabled.ts";
import { testWebhook } from "./attempts/test-webhook.ts";
import { Destinations } from "./destinations/destinations.ts";
import { FailingWebhooks } from "./destinations/failing-webhooks.ts";
import { WorkflowQueues } from "./destinations/workflow-queues.ts";
import { OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import { startOwnerLimits } from "./record/owner-limits.ts";
import { Recorder } from "./record/recorder.ts";
import { Dispatch } from "./routing/dispatch.ts";
import { HandedOver } from "./routing/handed-over.ts";
import { HostPace } from "./routing/host-pace.ts";
import type { Reading } from "./routing/ports.ts";
import { readCommits } from "./routing/read-commits.ts";
import { readReplays } from "./routing/replays.ts";
import { Routes } from "./routing/routes.ts";
import { ScheduledEvents } from "./routing/scheduled-events.ts";
import { shareWork } from "./shared-work.ts";

export interface StartedDelivery {
  /** Resolves once this replica works on its share, or could not open all of it at first. */
  untilOpen(): Promise<void>;
  stop(): Promise<void>;
}

/** Attempts end or are stored within the delivery deadline of one second; the rest is for a slow NATS. */
const settleMs = 3_000;

/**
 * Starts a replica of the delivery role:
 *
 * | consumes | with | of |
 * |---|---|---|
 * | bucket ROUTES | `Routes` | all |
 * | RUNS | `readCommits`: routes, first attempts | its partitions |
 * | WORKFLOWS | `WorkflowQueues` | queues of workflows that become active |
 * | RUNS | `Recorder` | its partitions |
 * | DELIVERIES: ordered queues | `OrderedWebhooks` | its partitions |
 * | DELIVERIES: due deliveries and events, redelivery requests | `Deliverer`, `ScheduledEvents`, `redeliver` | a message at a time |
 * | DELIVERIES: replays | `readReplays` | a message at a time |
 * | requests to test a webhook | `testWebhook` | a request at a time |
 * | usage and plans in Postgres | `startOwnerLimits` | all |
 */
export async function startDelivery(config: DeliveryConfig, ports: DeliveryPorts): Promise<StartedDelivery> {
  const stopping = new AbortController();
  const parts = createParts(config, ports, stopping.signal);
  const { routes, failing, attempts, destinations, deliverer, ordered, workflows } = parts;

  await failing.follow(stopping.signal);
  // Routes are complete before the first commit is read.
  const watching = await watchRoutes(parts);
  await workflows.start();
  await ordered.moveFormer();
  const recorder = new Recorder(ports);
  const limits = startOwnerLimits(ports);
  const due = await readDueWork(parts);
  const tests = await ports.tests.serve((request) => testWebhook(request, { routes, destinations, attempts, clock: ports.clock }));
  const routing = readCommits(parts);
  // A redrive does not wait behind a large replay: each has a pace.
  const replays = await readReplays({ ...parts, pace: new HostPace(parts.routes, config.replayPace) });
  const share = await shareWork({ ports, routing, recorder, ordered });
  const trimming = ports.runs.startTrimming();

  return {
    untilOpen: () => share.untilOpen(),
    stop: async () => {
      // What settles now is not repeated by another replica.
      const reading = Promise.all([replays.stop(), due.stop(), tests.stop()]);
      await Promise.all([share.stop(AbortSignal.timeout(settleMs)), reading]);
      await atMost(settleMs, Promise.all([replays.idle(), due.idle()]));
      stopping.abort();
      await Promise.all([routing.stop(), recorder.stop(), limits.stop(), watching.stop(), trimming.stop()]);
      await Promise.all([deliverer.drain(), workflows.stop()]);
      await attempts.stop();
      await ports.runs.close();
    },
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(config: DeliveryConfig, ports: DeliveryPorts, signal: AbortSignal) {
  const routes = new Routes();
  const failing = new FailingWebhooks(config, ports, (delivery, disabled) => reportDisabled(delivery, disabled, routes, ports));
  const workflows = new WorkflowQueues(ports, routes, signal);
  const destinations = new Destinations(ports, { routes, failing, queues: workflows });
  const attempts = new Attempts(config, ports, () => failing.save());
  const pace = new HostPace(routes, config.replayPace);
  const deliverer = new Deliverer(config, ports, attempts, destinations);
  const ordered = new OrderedWebhooks({ config, ports, routes, deliverer, signal });
  const handedOver = new HandedOver(() => ports.runs.publishFloors(), signal);
  const dispatch = new Dispatch({ deliverer, ordered, handedOver, ports, signal });
  const router = { routes, dispatch, maxDirectListeners: config.maxDirectListeners, clock: ports.clock };
  const scheduled = new ScheduledEvents(ports, router, signal);
  return { ports, signal, routes, failing, destinations, attempts, deliverer, workflows, ordered, router, scheduled, pace };
}

function watchRoutes({ ports, routes, ordered, workflows }: Parts): Promise<Reading> {
  return ports.routes.watch((id, route) => {
    const before = routes.webhook(id);
    routes.set(id, route);
    ordered.changed(id, before, routes.webhook(id));
    if (route?.listener.kind === "workflow") workflows.empty(route.listener.id);
  });
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, pause(ms, enough.signal)]);
  enough.abort();
}
