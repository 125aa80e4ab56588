import {
  answerFilter,
  buckets,
  buildSubject,
  bundleBytesSubject,
  bundleStore,
  changedSubject,
  configureSubject,
  connectSubject,
  emittedSubject,
  former,
  orderedQueueSubject,
  orderedSubject,
  operatorStatusSubject,
  poolRequests,
  poolRequestSubject,
  redeliverySubject,
  replicaKey,
  dataStoreSubject,
  filePartSubject,
  fileUsageSubject,
  stateUsageSubject,
  streams,
  webhookTestSubject,
} from "../../../domain/subjects.ts";

/**
 * The NATS permissions of each role (decision 0050).
 *
 * Roles that run no user code share the account of the streams, each with its own list of subjects. Roles that run user code (the runners
 * of a pool, the builder) have accounts of their own, which import only the subjects that they need. A list of subjects would not contain
 * them: a client names the subject of a JetStream reply, permissions do not check it, and an empty reply sent to
 * `$JS.API.STREAM.DELETE.RUNS` deletes the stream. The reply to an imported service stays in the caller's account.
 */
export const trustedRoles = ["api", "operator", "ingress", "delivery"] as const;
export type TrustedRole = (typeof trustedRoles)[number];

export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The prefix of a role's inboxes, so that no role receives the replies to another. */
export const inboxPrefix = (role: string): string => `_INBOX_${role}`;

/** The imported name of `$JS.API`: under its own name NATS answers each account about itself, and the other accounts have no streams. */
export const importedApi = "headwater.js";
export const importedName = (subject: string): string => subject.replace(/^\$JS\.API\./, `${importedApi}.`);

export const api = (request: string): string => `$JS.API.${request}`;
export const bucket = (name: string): string => `KV_${name}`;
export const bundles = `OBJ_${bundleStore}`;
/** The check whether all streams exist, see `areSetUp`. */
export const setUpCheck = api(`STREAM.INFO.${bundles}`);

/** Reading or following a stream with consumers that the role creates. */
export const reading = (stream: string): readonly string[] => [
  api(`STREAM.INFO.${stream}`),
  api(`CONSUMER.CREATE.${stream}`),
  api(`CONSUMER.CREATE.${stream}.>`),
  api(`CONSUMER.DURABLE.CREATE.${stream}.*`),
  api(`CONSUMER.INFO.${stream}.*`),
  api(`CONSUMER.MSG.NEXT.${stream}.*`),
  api(`CONSUMER.RESET.${stream}.*`),
  api(`CONSUMER.DELETE.${stream}.*`),
  `$JS.ACK.${stream}.>`,
];

/** Following a stream without acks, with consumers that the role creates. */
const following = (stream: string): readonly string[] => [
  api(`STREAM.INFO.${stream}`),
  api(`CONSUMER.CREATE.${stream}.>`),
  api(`CONSUMER.MSG.NEXT.${stream}.*`),
  api(`CONSUMER.DELETE.${stream}.*`),
];

export const rightsOf: Readonly<Record<TrustedRole, Rights>> = {
  /** Requests runs, builds, calls of components, replays, redeliveries and webhook tests; follows runs; reads backlogs of webhooks and sources. */
  api: {
    publish: [
      setUpCheck,
      "invoke.>",
      buildSubject,
      configureSubject,
      connectSubject,
      operatorStatusSubject,
      redeliverySubject("*"),
      "replay.>",
      webhookTestSubject,
      ...following(streams.runs),
      api(`STREAM.MSG.GET.${streams.runs}`),
      // Whether a stream is full.
      api("STREAM.LIST"),
      // Backlogs of webhooks.
      api(`DIRECT.GET.${streams.deliveries}`),
      api(`STREAM.INFO.${streams.deliveries}`),
      // How far delivery is behind.
      api(`CONSUMER.INFO.${streams.deliveries}.*`),
      api(`DIRECT.GET.${bucket(buckets.floors)}.$KV.${buckets.floors}.*`),
      // Runners' reports about their backlogs.
      ...reading(bucket(buckets.runners)),
      // Heartbeats of the delivery role.
      ...reading(bucket(buckets.replicas)),
      // Backlogs of sources.
      api(`STREAM.INFO.${streams.invocations}`),
      api(`DIRECT.GET.${streams.invocations}`),
      // The code of a run that a developer debugs.
      ...["M", "C"].map((kind) => api(`DIRECT.GET.${bundles}.$O.${bundleStore}.${kind}.*`)),
    ],
    subscribe: [answerFilter("*"), emittedSubject("*")],
  },
  /**
   * Publishes requests as invocations; reads endpoints, quotas, and runners' reports about their backlogs. Sends files of runs, and stores
   * bodies as files within the shares of owners.
   */
  ingress: {
    publish: [
      setUpCheck,
      "invoke.>",
      api(`DIRECT.GET.${bucket(buckets.endpoints)}.$KV.${buckets.endpoints}.>`),
      ...reading(bucket(buckets.endpoints)),
      ...reading(bucket(buckets.quotas)),
      ...reading(bucket(buckets.runners)),
      filePartSubject("*", "*", "*", "*"),
      api(`DIRECT.GET.${streams.files}.${filePartSubject("*", "*", "*", "*")}`),
      // With its own name in place of a pool, as in wiring/roles/ingress.ts.
      fileUsageSubject("ingress", "*"),
    ],
    subscribe: [answerFilter("*")],
  },
  /** Reads runs; writes deliveries, ordered queues and invocations; serves the requests of runners. */
  delivery: {
    publish: [
      setUpCheck,
      "invoke.>",
      "timer.>",
      "retry.>",
      "workflow.>",
      // Empties the queues of workflows that become active.
      ...["INFO", "PURGE", "MSG.GET"].map((request) => api(`STREAM.${request}.${streams.workflows}`)),
      // The queues of ordered webhooks, and those of an earlier version.
      orderedSubject("*", "*", "*", "*"),
      ...[streams.deliveries, former.ordered].flatMap((stream) =>
        ["MSG.GET", "MSG.DELETE"].map((request) => api(`STREAM.${request}.${stream}`)),
      ),
      api(`DIRECT.GET.${bucket(former.lines)}.$KV.${former.lines}.*`),
      ...reading(streams.runs),
      // Trims the commits of RUNS that are processed and copied to STATE.
      api(`STREAM.PURGE.${streams.runs}`),
      // Finds the first commit that is young enough to be kept.
      api(`DIRECT.GET.${streams.runs}`),
      // Whether a partition has commits above its floor.
      api(`STREAM.MSG.GET.${streams.runs}`),
      api(`STREAM.MSG.GET.${streams.state}`),
      // Counts the bytes that an owner holds there.
      ...following(streams.state),
      api(`STREAM.INFO.${streams.files}`),
      `$KV.${buckets.floors}.*`,
      api(`DIRECT.GET.${bucket(buckets.floors)}.$KV.${buckets.floors}.*`),
      // Heartbeats of the replicas, and requests to the one that holds a partition.
      `$KV.${buckets.replicas}.${replicaKey("delivery", "*")}`,
      api(`DIRECT.GET.${bucket(buckets.replicas)}`),
      ...(["append", "attempt"] as const).map((kind) => orderedQueueSubject(kind, "*")),
      api("STREAM.LIST"),
      ...reading(streams.deliveries),
      ...reading(bucket(buckets.routes)),
      ...reading(bucket(buckets.runners)),
      api(`STREAM.PURGE.${streams.deliveries}`),
      api(`DIRECT.GET.${streams.deliveries}`),
      api(`DIRECT.GET.${streams.deliveries}.retry.>`),
      api(`DIRECT.GET.${streams.invocations}`),
      // The tick that is armed of a chained timer.
      api(`DIRECT.GET.${streams.invocations}.timer.>`),
      // Creates the consumers of pools when they are missing.
      api(`STREAM.INFO.${streams.invocations}`),
      api(`CONSUMER.CREATE.${streams.invocations}.>`),
      api(`CONSUMER.INFO.${streams.invocations}.*`),
      api(`CONSUMER.DELETE.${streams.invocations}.*`),
      api(`DIRECT.GET.${bucket(buckets.deployments)}.$KV.${buckets.deployments}.>`),
      api(`DIRECT.GET.${bucket(buckets.quotas)}`),
      `$KV.${buckets.quotas}.*`,
      emittedSubject("*"),
    ],
    subscribe: [
      `seen.${buckets.routes}`,
      changedSubject(buckets.replicas, replicaKey("delivery", "*")),
      ...poolRequests.map((request) => poolRequestSubject("*", request)),
      ...[stateUsageSubject, fileUsageSubject, dataStoreSubject].map((subject) => subject("*", "*")),
      webhookTestSubject,
      ...(["append", "attempt"] as const).map((kind) => orderedQueueSubject(kind, "*")),
    ],
  },
  /** Creates and updates streams, writes entries, sets timers, requests hooks, deletes histories. It may not delete streams. */
  operator: {
    publish: [
      ...["CREATE", "UPDATE", "INFO", "PURGE"].map((request) => api(`STREAM.${request}.*`)),
      api("INFO"),
      api("STREAM.NAMES"),
      api("STREAM.LIST"),
      "invoke.>",
      "timer.>",
      "last.>",
      // Whether STATE has copied the commits of a deleted history; the newest part of the files of a run.
      ...[streams.runs, streams.state, streams.files].map((stream) => api(`STREAM.MSG.GET.${stream}`)),
      buildSubject,
      `seen.${buckets.routes}`,
      ...[buckets.deployments, buckets.endpoints, buckets.routes, buckets.versions].map((name) => `$KV.${name}.>`),
      ...[...Object.values(buckets).map(bucket), streams.runs, streams.state, streams.invocations].map((stream) =>
        api(`DIRECT.GET.${stream}.>`),
      ),
      ...Object.values(buckets).flatMap((name) => [api(`DIRECT.GET.${bucket(name)}`), ...reading(bucket(name))]),
      api(`DIRECT.GET.${streams.invocations}`),
      ...reading(streams.invocations),
      // Backlogs of pools.
      api(`CONSUMER.LIST.${streams.invocations}`),
      // Finds bundles that nothing refers to, and corrects what owners are charged for. It writes no bundle.
      ...reading(bundles),
      api(`DIRECT.GET.${bundles}.>`),
      bundleBytesSubject("*"),
    ],
    subscribe: [answerFilter("*"), configureSubject, connectSubject, operatorStatusSubject],
  },
};
