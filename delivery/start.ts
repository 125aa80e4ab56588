import { pause } from "../domain/retry.ts";
import type { CommitPosition } from "../domain/source/deployment.ts";
import { partitionOfRun } from "../domain/subjects.ts";
import { Deliverer } from "./attempts/deliver.ts";
import { readDueWork } from "./attempts/due-work.ts";
import { Destinations } from "./destinations/destinations.ts";
import { FailingWebhooks } from "./destinations/failing-webhooks.ts";
import { reportDisabled } from "./attempts/report-disabled.ts";
import { testWebhook } from "./attempts/test-webhook.ts";
import { Attempts } from "./attempts/attempts.ts";
import { WorkflowQueues } from "./destinations/workflow-queues.ts";
import { OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import { startOwnerLimits } from "./record/owner-limits.ts";
import { Recorder } from "./record/recorder.ts";
import type { Delivery, ScheduledEvent } from "./routing/delivery.ts";
import { HandedOver } from "./routing/handed-over.ts";
import { KeyedChains } from "./routing/keyed-chains.ts";
import type { PartitionReading, Reading } from "./routing/ports.ts";
import { readReplays } from "./routing/replays.ts";
import { parseCommit, routeCommit, type Dispatch } from "./routing/router.ts";
import { Routes } from "./routing/routes.ts";
import { ScheduledEvents } from "./routing/scheduled-events.ts";
import { shareWork } from "./shared-work.ts";
import { assertSettled, settle } from "./settle.ts";

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
 * | RUNS | `routeCommit`, first attempts | its partitions |
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
  const { routes, failing, attempts, destinations, deliverer, ordered, scheduled, workflows } = parts;

  await failing.follow(stopping.signal);
  // Routes are complete before the first commit is read.
  const watching = await watchRoutes(parts);
  await workflows.start();
  await ordered.moveFormer();
  const recorder = new Recorder(ports);
  const limits = startOwnerLimits(ports);
  const due = await readDueWork({ deliverer, routes, ordered, scheduled, ports, signal: stopping.signal });
  const tests = await ports.tests.serve((request) => testWebhook(request, { routes, destinations, attempts, clock: ports.clock }));
  const routing = readCommits(parts);
  const replays = await readReplays(parts);
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

interface Parts {
  readonly config: DeliveryConfig;
  readonly ports: DeliveryPorts;
  readonly signal: AbortSignal;
  readonly routes: Routes;
  readonly failing: FailingWebhooks;
  readonly attempts: Attempts;
  readonly destinations: Destinations;
  readonly deliverer: Deliverer;
  readonly workflows: WorkflowQueues;
  readonly ordered: OrderedWebhooks;
  readonly dispatch: Dispatch;
  readonly scheduled: ScheduledEvents;
}

function createParts(config: DeliveryConfig, ports: DeliveryPorts, signal: AbortSignal): Parts {
  const routes = new Routes();
  const failing = new FailingWebhooks(config, ports, (delivery, disabled) => reportDisabled(delivery, disabled, routes, ports));
  const workflows = new WorkflowQueues(ports, routes, signal);
  const destinations = new Destinations(ports, { routes, failing, queues: workflows });
  const attempts = new Attempts(config, ports, () => failing.save());
  const deliverer = new Deliverer(config, ports, attempts, destinations);
  const settled = settledDispatch(deliverer, ports, signal);
  const ordered = new OrderedWebhooks({ config, ports, routes, deliverer, signal });
  const dispatch: Dispatch = { ...settled, enqueue: (deliveries) => ordered.append(deliveries) };
  const scheduled = new ScheduledEvents(ports, routes, dispatch, config.maxDirectListeners, signal);
  return { config, ports, signal, routes, failing, destinations, attempts, deliverer, workflows, ordered, dispatch, scheduled };
}

/** Repeats each step of the deliverer until it succeeds, or gives the delivery up. */
function settledDispatch(deliverer: Deliverer, ports: DeliveryPorts, signal: AbortSignal): Pick<Dispatch, "attempt" | "schedule"> {
  const settled = (act: () => Promise<unknown>, delivery: Delivery): Promise<void> =>
    settle(act, delivery, ports, signal, (error) => deliverer.abandon(delivery, error)).then(assertSettled);
  return {
    attempt: (delivery, route, waitedMs) => settled(() => deliverer.attemptFirst(delivery, route, waitedMs), delivery),
    schedule: (delivery, atMs) => settled(() => deliverer.schedule(delivery, atMs), delivery),
  };
}

function watchRoutes({ ports, routes, ordered, workflows }: Parts): Promise<Reading> {
  return ports.routes.watch((id, route) => {
    const before = routes.webhook(id);
    routes.set(id, route);
    ordered.changed(id, before, routes.webhook(id));
    if (route?.listener.kind === "workflow") workflows.empty(route.listener.id);
  });
}

function readCommits(parts: Parts): PartitionReading {
  const { config, ports, routes, ordered, dispatch, scheduled, signal } = parts;
  const chains = new KeyedChains();
  const handedOver = new HandedOver(() => ports.runs.publishFloors(), signal);
  const scheduleEvent = (event: ScheduledEvent): Promise<void> =>
    settle(() => scheduled.schedule(event), { id: event.event.emitId }, ports, signal).then(assertSettled);
  const commitDispatch = { ...dispatch, scheduleEvent, send: (sends: readonly Delivery[]) => sendAll(sends, parts) };
  const attemptOf =
    ({ seq }: CommitPosition): Dispatch["attempt"] =>
    async (delivery, route, waitedMs) => {
      if (route?.listener.kind === "source") await handedOver.admit(route.listener.id, seq);
      return dispatch.attempt(delivery, route, waitedMs);
    };
  return ports.runs.route((text, done, subject, position) => {
    const commit = parseCommit(text, subject, ports.log);
    if (commit === undefined) return done();
    // A commit that is not done is read again after the restart.
    const report = (error: unknown): void => {
      if (!signal.aborted) ports.log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed");
    };
    const listeners = routes.at(position);
    // After another replica has taken over, this one must not go on with its commits in the queues that it opens next.
    const queues = ordered.at(partitionOfRun(subject));
    const enqueue = (deliveries: readonly Delivery[]): Promise<void> =>
      queues?.deliver(deliveries) ?? Promise.reject(new Error("the partition is closed"));
    const ofCommit = { ...commitDispatch, attempt: attemptOf(position), enqueue };
    routeCommit({ commit, position }, listeners, chains, ofCommit, config.maxDirectListeners, ports.clock.now()).then(done, report);
  });
}

/** Sends of one run are attempted at once, unless there are many. */
async function sendAll(sends: readonly Delivery[], { config, ports, dispatch }: Parts): Promise<void> {
  const isDirect = sends.length <= config.maxDirectListeners;
  await Promise.all(sends.map((send) => (isDirect ? dispatch.attempt(send, undefined, 0) : dispatch.schedule(send, ports.clock.now()))));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, pause(ms, enough.signal)]);
  enough.abort();
}
