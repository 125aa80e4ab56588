/** Names of streams, buckets and subjects. No other file spells them. */
export const streams = {
  invocations: "INVOCATIONS",
  runs: "RUNS",
  state: "STATE",
  deliveries: "DELIVERIES",
  workflows: "WORKFLOWS",
  files: "FILES",
} as const;
export const buckets = {
  deployments: "DEPLOYMENTS",
  endpoints: "ENDPOINTS",
  routes: "ROUTES",
  runners: "RUNNERS",
  quotas: "QUOTAS",
  versions: "VERSIONS",
  floors: "FLOORS",
  replicas: "REPLICAS",
} as const;
/** Object store of bundles, by content address. */
export const bundleStore = "BUNDLES";
/** In the object store: how many bytes of bundles an owner is charged for. */
export const bundleBytesSubject = (owner: string): string => `$O.${bundleStore}.M.bytes.${owner}`;
/** All streams of an installation in NATS, where a bucket and the object store are streams too. */
export const streamNames: readonly string[] = [
  ...Object.values(streams),
  ...Object.values(buckets).map((bucket) => `KV_${bucket}`),
  `OBJ_${bundleStore}`,
];

export const defaultPool = "default";
/** Partitions of a pool. Fixed for the life of an installation: ids hash to it, consumers are named by it. */
export const partitionCount = 16;

/** Key of a source's entry in the bucket DEPLOYMENTS: a pool's runners may read their own part of it. */
export const deploymentKey = (pool: string, source: string): string => `${pool}.${source}`;
/** Key of a heartbeat in the bucket RUNNERS. */
export const runnerKey = (pool: string, runner: string): string => `${pool}.${runner}`;
/** Key of a heartbeat in the bucket REPLICAS: of the processes of one role that share work. */
export const replicaKey = (role: string, replica: string): string => `${role}.${replica}`;
/** NATS publishes a message here, without the value, for each stored entry of the bucket. Subscribing needs no consumer. */
export const changedSubject = (bucket: string, key: string): string => `changed.${bucket}.${key}`;

export const invokeSubject = (pool: string, partition: number, source: string): string => `invoke.${pool}.${partition}.${source}`;
/** The subject's last token when it names no single source. */
export const packToken = "pack";
/** A pack holds invocations of several sources of one partition. */
export const packSubject = (pool: string, partition: number | "*"): string => `invoke.${pool}.${partition}.${packToken}`;
export const invokeFilter = (pool: string, partition: number | "*"): string => `invoke.${pool}.${partition}.>`;
/** A source's message schedule; publishing again replaces it, purging ends it. */
export const timerSubject = (source: string, prop: string): string => `timer.${source}.${subjectToken(prop)}`;
/** The wake-up of a suspended workflow run. */
export const wakeUpSubject = (workflow: string, run: string): string => `timer.${workflow}.${run}`;
export const timerFilter = (source: string): string => `timer.${source}.>`;
export const runnerConsumer = (pool: string, partition: number): string => `runner-${pool}-${partition}`;

export const runSubject = (partition: number, owner: string, source: string): string => `runs.${partition}.${owner}.${source}`;
/** The history of one run of a workflow. */
export const workflowRunSubject = (partition: number, owner: string, workflow: string, run: string): string =>
  `${runSubject(partition, owner, workflow)}.${run}`;
export const runsOfPartition = (partition: number): string => `runs.${partition}.>`;
export const runsOfOwner = (owner: string): string => `runs.*.${owner}.>`;
/** The owner of a commit's subject, and its source or workflow. */
export const partsOfRun = (subject: string): { readonly owner: string; readonly source: string } => {
  const [, , owner = "", source = ""] = subject.split(".");
  return { owner, source };
};
/** The partition of a commit's subject. */
export const partitionOfRun = (subject: string): number => Number(subject.split(".", 2)[1]);

/** Subject of STATE that stores nothing: NATS refuses each message with the sequence of the source's last commit (platform/jetstream/runs/commits.ts). */
export const lastRunSubject = (partition: number, owner: string, source: string): string => `last.${partition}.${owner}.${source}`;

/** Due deliveries, and the schedules that make them due. */
export const deliverSubject = (webhook: string, delivery: string): string => `deliver.${webhook}.${delivery}`;
export const retrySubject = (webhook: string, delivery: string): string => `retry.${webhook}.${delivery}`;
/**
 * Scheduled events use the subjects of retries, and of due deliveries once they are due, with `event` in place of the webhook's id. The
 * key names a scheduled event of a source.
 */
export const scheduledEvents = "event";
export const scheduledEventKey = (source: string, emitId: string): string => `${source}.${emitId}`;
/** Delivery announces here each scheduled event of a source that has become due, best effort, for live streams. */
export const emittedSubject = (source: string): string => `emitted.${source}`;
/** Requests for redelivery, on the subjects of due deliveries: no webhook's id is `again`. */
export const redeliverySubject = (webhook: string): string => `deliver.again.${webhook}`;
/**
 * Replayed events: one at a time in each lane, so that the events of a source arrive in order. A slow listener delays its own lane only.
 */
export const replayLaneCount = 4;
export const replaySubject = (lane: number, source: string): string => `replay.${lane}.${source}`;
export const replayFilter = (lane: number): string => `replay.${lane}.>`;
export const replayConsumer = (lane: number): string => `replay-${lane}`;
/**
 * The queue of one source's events for an ordered webhook, in the stream DELIVERIES. The last token is the number of deliveries in the
 * message, so that NATS itself counts them.
 */
export const orderedSubject = (partition: number | "*", webhook: string, source: string, count: number | "*"): string =>
  `ordered.${partition}.${webhook}.${source}.${count}`;
/** The webhook, source and count of a subject. */
export const partsOfOrdered = (subject: string): { readonly webhook: string; readonly source: string; readonly count: number } => {
  const [, , webhook = "", source = "", count] = subject.split(".");
  return { webhook, source, count: Number(count) };
};
/** Where an earlier version stored the queues of ordered webhooks, one subject for each, and how far each has come. */
export const former = { ordered: "ORDERED", lines: "LINES", lineSubject: (webhook: string): string => `ordered.${webhook}` } as const;

/** Request to delivery: post one event to a webhook now. */
export const webhookTestSubject = "webhook.test";

/** Request to the delivery replica that holds a partition: append a delivery to an ordered queue, or attempt the head, which is due. */
export const orderedQueueSubject = (kind: "append" | "attempt", partition: number | "*"): string => `webhook.ordered.${kind}.${partition}`;

/**
 * Events that wait for a workflow that is not active. Owner and size are in the subject, so that NATS itself counts what waits for the
 * workflows of an owner. @param sizeClass see domain/limits/size-class.ts
 */
export const waitingSubject = (workflow: string, owner: string, sizeClass: number): string => `workflow.${workflow}.${owner}.${sizeClass}`;
export const waitingFilter = (workflow: string): string => `workflow.${workflow}.>`;
/** Their subject in an earlier form, in which nothing is stored any more. */
export const waitingWithoutOwner = (workflow: string): string => `workflow.${workflow}`;
export const waitingOfOwner = (owner: string): string => `workflow.*.${owner}.*`;
/** The workflow and the size class of a subject. */
export const partsOfWaiting = (subject: string): { readonly workflow: string; readonly sizeClass: number } => {
  const [, workflow = "", , sizeClass] = subject.split(".");
  return { workflow, sizeClass: Number(sizeClass) };
};

/** A part of the files of a workflow run. Its name ends with its size, so that NATS itself counts what an owner has stored. */
export const filePartSubject = (owner: string, workflow: string, run: string, part: string): string =>
  `files.${owner}.${workflow}.${run}.${part}`;
export const filesOfRun = (owner: string, workflow: string, run: string): string => `files.${owner}.${workflow}.${run}.*`;
export const filesOfOwner = (owner: string): string => `files.${owner}.>`;
/** The run and the size of a part's subject. */
export const partsOfFilePart = (
  subject: string,
): { readonly owner: string; readonly workflow: string; readonly run: string; readonly bytes: number } => {
  const [, owner = "", workflow = "", run = "", part = ""] = subject.split(".");
  return { owner, workflow, run, bytes: Number(part.split("-")[1]) };
};

/**
 * Requests of a runner to the delivery role, which may write invocations: `arm` a chained timer, `cancel` the run of an earlier tick, create
 * missing `consumers` of its pool, `move` an invocation after its source, `wake` a suspended workflow run at a time.
 */
export const poolRequests = ["arm", "cancel", "consumers", "move", "wake"] as const;
export type PoolRequest = (typeof poolRequests)[number];
export const poolRequestSubject = (pool: string, request: PoolRequest): string => `pool.${pool}.${request}`;

/** Request of a runner to the delivery role: how many bytes of STATE an owner holds. */
export const stateUsageSubject = (pool: string, owner: string): string => `pool.${pool}.state.${owner}`;

/** Request of a runner to the delivery role: how many bytes of FILES an owner holds. */
export const fileUsageSubject = (pool: string, owner: string): string => `pool.${pool}.files.${owner}`;

/** Request of a runner to the delivery role: an operation on a data store of an owner. */
export const dataStoreSubject = (pool: string, owner: string): string => `pool.${pool}.store.${owner}`;

/** Requests to the builder. */
export const buildSubject = "build.request";
/** Requests to the operator: calls of components during their configuration. */
export const configureSubject = "configure.request";
/** Requests to the operator: codes to be exchanged for tokens, and tokens to be revoked. */
export const connectSubject = "connect.request";
/** Request to the leading operator: whether there is one, and what it knows of runners. */
export const operatorStatusSubject = "operator.status";
/** Inbox-like subjects for answers of runs; `<token>` belongs to the client that waits. */
export const answerSubject = (token: string, run: string): string => `answer.${token}.${run}`;
export const answerFilter = (token: string): string => `answer.${token}.>`;

/** Encodes a prop name, which may contain any character, as a subject token. */
function subjectToken(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, (c) => `=${c.codePointAt(0)?.toString(16)}`);
}
