/** Names of streams, buckets and subjects: the one place that knows how they are spelled. */
export const streams = {
  invocations: "INVOCATIONS",
  runs: "RUNS",
  state: "STATE",
  deliveries: "DELIVERIES",
  ordered: "ORDERED",
  workflows: "WORKFLOWS",
} as const;
export const buckets = {
  deployments: "DEPLOYMENTS",
  endpoints: "ENDPOINTS",
  routes: "ROUTES",
  runners: "RUNNERS",
  quotas: "QUOTAS",
  lines: "LINES",
  versions: "VERSIONS",
  floors: "FLOORS",
  replicas: "REPLICAS",
} as const;
/** Object store of bundles, by content address. */
export const bundleStore = "BUNDLES";

export const defaultPool = "default";
/** Partitions of a pool. Fixed for the life of an installation: ids hash to it, consumers are named by it. */
export const partitionCount = 16;

/** Key of a source's entry in the bucket DEPLOYMENTS: a pool's runners may read their own part of it. */
export const deploymentKey = (pool: string, source: string): string => `${pool}.${source}`;
/** Key of a heartbeat in the bucket RUNNERS. */
export const runnerKey = (pool: string, runner: string): string => `${pool}.${runner}`;
/** Key of a heartbeat in the bucket REPLICAS: of the processes of one role that share work. */
export const replicaKey = (role: string, replica: string): string => `${role}.${replica}`;
/** The server tells here, without its value, of each entry of the bucket once it is stored: to hear it takes no consumer. */
export const changedSubject = (bucket: string, key: string): string => `changed.${bucket}.${key}`;

export const invokeSubject = (pool: string, partition: number, source: string): string => `invoke.${pool}.${partition}.${source}`;
/** In place of a source. */
export const packToken = "pack";
/** A pack holds invocations of several sources of one partition. */
export const packSubject = (pool: string, partition: number | "*"): string => `invoke.${pool}.${partition}.${packToken}`;
export const invokeFilter = (pool: string, partition: number | "*"): string => `invoke.${pool}.${partition}.>`;
/** A source's message schedule; publishing again replaces it, purging ends it. */
export const timerSubject = (source: string, prop: string): string => `timer.${source}.${subjectToken(prop)}`;
export const timerFilter = (source: string): string => `timer.${source}.>`;
export const runnerConsumer = (pool: string, partition: number): string => `runner-${pool}-${partition}`;

export const runSubject = (partition: number, owner: string, source: string): string => `runs.${partition}.${owner}.${source}`;
export const runsOfPartition = (partition: number): string => `runs.${partition}.>`;
/** The partition of a commit's subject. */
export const partitionOfRun = (subject: string): number => Number(subject.split(".", 2)[1]);

/** Of STATE. Nothing is stored there: who publishes there is told the sequence of the source's last commit, see platform/jetstream/runs/commits.ts. */
export const lastRunSubject = (partition: number, owner: string, source: string): string => `last.${partition}.${owner}.${source}`;

/** Due deliveries, and the schedules that make them due. */
export const deliverSubject = (webhook: string, delivery: string): string => `deliver.${webhook}.${delivery}`;
export const retrySubject = (webhook: string, delivery: string): string => `retry.${webhook}.${delivery}`;
/**
 * Scheduled events lie among the retries, and when they are due among the due deliveries: no webhook's id is `event`. The key names one
 * of a source.
 */
export const scheduledEvents = "event";
export const scheduledEventKey = (source: string, emitId: string): string => `${source}.${emitId}`;
/** Here delivery announces to live streams, best effort, each scheduled event of a source that has become due. */
export const emittedSubject = (source: string): string => `emitted.${source}`;
/** Requests to deliver again, among what is due: no webhook's id is `again`. */
export const redeliverySubject = (webhook: string): string => `deliver.again.${webhook}`;
/**
 * Events to be delivered once more, one at a time in each lane, so that a source's arrive in their order. There are several lanes because a
 * listener that takes its time holds up its own.
 */
export const replayLaneCount = 4;
export const replaySubject = (lane: number, source: string): string => `replay.${lane}.${source}`;
export const replayFilter = (lane: number): string => `replay.${lane}.>`;
export const replayConsumer = (lane: number): string => `replay-${lane}`;
/** The line of an ordered webhook: what is to be delivered there, in the order of commits. How far it has come is in the bucket LINES. */
export const lineSubject = (webhook: string): string => `ordered.${webhook}`;

/** Request/reply towards delivery: one event to a webhook, now. */
export const webhookTestSubject = "webhook.test";

/** Request/reply among delivery replicas: to the one that posts to ordered webhooks, to append a delivery to a queue or to attempt its head now. */
export const orderedQueueSubject = (kind: "append" | "attempt"): string => `webhook.ordered.${kind}`;

/** The queue of a workflow: what it has heard and nobody has run. */
export const workflowSubject = (workflow: string): string => `workflow.${workflow}`;

/**
 * Requests of a runner to the delivery role, which may write invocations: `arm` a chained timer, create missing `consumers` of its pool,
 * `move` an invocation after its source.
 */
export const poolRequests = ["arm", "consumers", "move"] as const;
export type PoolRequest = (typeof poolRequests)[number];
export const poolRequestSubject = (pool: string, request: PoolRequest): string => `pool.${pool}.${request}`;

/** Request/reply towards the builder. */
export const buildSubject = "build.request";
/** Request/reply towards the operator: calls of components that somebody configures. */
export const configureSubject = "configure.request";
/** Request/reply towards the operator that leads: whether there is one, and what it knows of runners. */
export const operatorStatusSubject = "operator.status";
/** Inbox-like subjects for answers of runs; the asker owns `<token>`. */
export const answerSubject = (token: string, run: string): string => `answer.${token}.${run}`;
export const answerFilter = (token: string): string => `answer.${token}.>`;

/** Prop names may hold anything; a subject token may not. */
function subjectToken(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, (c) => `=${c.codePointAt(0)?.toString(16)}`);
}
