import {
  answerFilter,
  answerSubject,
  buckets,
  buildSubject,
  bundleStore,
  changedSubject,
  configureSubject,
  deploymentKey,
  emittedSubject,
  lineSubject,
  orderedQueueSubject,
  operatorStatusSubject,
  partitionCount,
  poolRequests,
  poolRequestSubject,
  redeliverySubject,
  replicaKey,
  runnerConsumer,
  runnerKey,
  streams,
  webhookTestSubject,
} from "../../../domain/subjects.ts";

/**
 * Who may say what to the message server.
 *
 * Roles that run none of a user's code share one account with the streams, each with its own list. Those that do (a pool's runners,
 * the builder) have an account of their own, and of the streams' account only what is imported into it. A list of subjects alone
 * would not hold them: whoever may ask JetStream anything names the subject of the answer, which no permission looks at, and an
 * empty answer sent to `$JS.API.STREAM.DELETE.RUNS` is an order. Through an import the answer stays in the asker's account.
 */
export const trustedRoles = ["api", "operator", "ingress", "delivery"] as const;
export type TrustedRole = (typeof trustedRoles)[number];

export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The prefix of a role's inboxes, so that none hears the answers to another. */
export const inboxPrefix = (role: string): string => `_INBOX_${role}`;

/**
 * What those outside the streams' account call `$JS.API`: under that name the server answers each account of itself, and theirs has no
 * streams.
 */
export const importedApi = "headwater.js";
export const importedName = (subject: string): string => subject.replace(/^\$JS\.API\./, `${importedApi}.`);

const api = (request: string): string => `$JS.API.${request}`;
const bucket = (name: string): string => `KV_${name}`;
const bundles = `OBJ_${bundleStore}`;
/** Whether everything has been set up, see `areSetUp`. */
const setUpCheck = api(`STREAM.INFO.${bundles}`);

/** To follow or read a stream with consumers of one's own making. */
const reading = (stream: string): readonly string[] => [
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

/** To follow a stream without acks, by consumers of one's own making. */
const following = (stream: string): readonly string[] => [
  api(`STREAM.INFO.${stream}`),
  api(`CONSUMER.CREATE.${stream}.>`),
  api(`CONSUMER.MSG.NEXT.${stream}.*`),
  api(`CONSUMER.DELETE.${stream}.*`),
];

export const rightsOf: Readonly<Record<TrustedRole, Rights>> = {
  /** Asks for runs, builds, calls of components, replays, redeliveries and tests of webhooks, hears what comes of them; follows runs, reads what waits for webhooks and sources. */
  api: {
    publish: [
      setUpCheck,
      "invoke.>",
      buildSubject,
      configureSubject,
      operatorStatusSubject,
      redeliverySubject("*"),
      "replay.>",
      webhookTestSubject,
      ...following(streams.runs),
      api(`STREAM.MSG.GET.${streams.runs}`),
      // Whether a stream is full.
      api("STREAM.LIST"),
      // What waits for a webhook.
      ...[streams.deliveries, streams.ordered].map((stream) => api(`DIRECT.GET.${stream}`)),
      api(`DIRECT.GET.${streams.ordered}.${lineSubject("*")}`),
      api(`DIRECT.GET.${bucket(buckets.lines)}.$KV.${buckets.lines}.*`),
      api(`STREAM.INFO.${streams.deliveries}`),
      // What runners report about their backlogs.
      ...reading(bucket(buckets.runners)),
      // What waits for a source.
      api(`STREAM.INFO.${streams.invocations}`),
      api(`DIRECT.GET.${streams.invocations}`),
    ],
    subscribe: [answerFilter("*"), emittedSubject("*")],
  },
  /** Requests become invocations; endpoints are read, and what runners report about their backlogs. */
  ingress: {
    publish: [
      setUpCheck,
      "invoke.>",
      api(`DIRECT.GET.${bucket(buckets.endpoints)}.$KV.${buckets.endpoints}.>`),
      ...reading(bucket(buckets.endpoints)),
      ...reading(bucket(buckets.quotas)),
      ...reading(bucket(buckets.runners)),
    ],
    subscribe: [answerFilter("*")],
  },
  /** Reads runs, writes deliveries, lines and invocations, does what runners ask for. */
  delivery: {
    publish: [
      setUpCheck,
      "invoke.>",
      "timer.>",
      "retry.>",
      "workflow.>",
      "ordered.*",
      ...["INFO", "PURGE", "MSG.GET", "MSG.DELETE"].map((request) => api(`STREAM.${request}.${streams.ordered}`)),
      api(`DIRECT.GET.${streams.ordered}`),
      `$KV.${buckets.lines}.*`,
      api(`DIRECT.GET.${bucket(buckets.lines)}.$KV.${buckets.lines}.*`),
      ...reading(bucket(buckets.lines)),
      ...reading(streams.runs),
      // Trims RUNS up to what is processed, and copied to STATE.
      api(`STREAM.PURGE.${streams.runs}`),
      // Whether a partition has commits above its floor.
      api(`STREAM.MSG.GET.${streams.runs}`),
      api(`STREAM.MSG.GET.${streams.state}`),
      `$KV.${buckets.floors}.*`,
      api(`DIRECT.GET.${bucket(buckets.floors)}.$KV.${buckets.floors}.*`),
      // The replicas tell each other that they live, and ask the one that posts to ordered webhooks.
      `$KV.${buckets.replicas}.${replicaKey("delivery", "*")}`,
      api(`DIRECT.GET.${bucket(buckets.replicas)}`),
      ...(["append", "attempt"] as const).map(orderedQueueSubject),
      api("STREAM.LIST"),
      ...reading(streams.deliveries),
      ...reading(bucket(buckets.routes)),
      ...reading(bucket(buckets.runners)),
      api(`STREAM.PURGE.${streams.deliveries}`),
      api(`DIRECT.GET.${streams.deliveries}`),
      api(`DIRECT.GET.${streams.deliveries}.retry.>`),
      api(`DIRECT.GET.${streams.invocations}`),
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
      webhookTestSubject,
      ...(["append", "attempt"] as const).map(orderedQueueSubject),
    ],
  },
  /** Makes and changes streams, writes what the others read, sets timers, asks for hooks, ends histories. It deletes no stream. */
  operator: {
    publish: [
      ...["CREATE", "UPDATE", "INFO", "PURGE"].map((request) => api(`STREAM.${request}.*`)),
      api("INFO"),
      api("STREAM.NAMES"),
      api("STREAM.LIST"),
      "invoke.>",
      "timer.>",
      "last.>",
      buildSubject,
      `seen.${buckets.routes}`,
      ...[buckets.deployments, buckets.endpoints, buckets.routes, buckets.versions].map((name) => `$KV.${name}.>`),
      ...[...Object.values(buckets).map(bucket), streams.runs, streams.state, streams.invocations].map((stream) =>
        api(`DIRECT.GET.${stream}.>`),
      ),
      ...Object.values(buckets).flatMap((name) => [api(`DIRECT.GET.${bucket(name)}`), ...reading(bucket(name))]),
      api(`DIRECT.GET.${streams.invocations}`),
      ...reading(streams.invocations),
      // How much waits for each pool.
      api(`CONSUMER.LIST.${streams.invocations}`),
    ],
    subscribe: [answerFilter("*"), configureSubject, operatorStatusSubject],
  },
};

/** What one account asks of another; several answers to one question need a service of their own kind. */
export interface Service {
  readonly subject: string;
  readonly answers: "one" | "many";
}

const one = (subject: string): Service => ({ subject, answers: "one" });
const many = (subject: string): Service => ({ subject, answers: "many" });
const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

/**
 * All that a pool's runners can reach: its invocations (by consumers that others made, since a consumer's settings can name any subject
 * to deliver to), its deployments, bundles by their hash, the histories of its owner's sources, heartbeats, answers, and what
 * it may ask for. Without an owner the pool is everybody's: whose sources run there cannot be told by a subject.
 */
export function runnerServices(pool: string, owner = "*"): readonly Service[] {
  const consumers = partitions.map((partition) => runnerConsumer(pool, partition));
  return [
    one(setUpCheck),
    ...consumers.flatMap((consumer) => [
      one(api(`CONSUMER.INFO.${streams.invocations}.${consumer}`)),
      many(api(`CONSUMER.MSG.NEXT.${streams.invocations}.${consumer}`)),
      one(api(`CONSUMER.RESET.${streams.invocations}.${consumer}`)),
      one(`$JS.ACK.${streams.invocations}.${consumer}.>`),
    ]),
    one(api(`DIRECT.GET.${bucket(buckets.deployments)}.$KV.${buckets.deployments}.${deploymentKey(pool, "*")}`)),
    many(api(`DIRECT.GET.${bucket(buckets.runners)}`)),
    one(`$KV.${buckets.runners}.${runnerKey(pool, "*")}`),
    one(api(`DIRECT.GET.${bucket(buckets.quotas)}.$KV.${buckets.quotas}.${owner}`)),
    // What of their owners' commits is still to be processed.
    one(api(`DIRECT.GET.${bucket(buckets.floors)}.$KV.${buckets.floors}.*`)),
    ...["M", "C"].map((kind) => one(api(`DIRECT.GET.${bundles}.$O.${bundleStore}.${kind}.*`))),
    ...[streams.runs, streams.state].map((stream) => one(api(`DIRECT.GET.${stream}.runs.*.${owner}.*`))),
    one(`runs.*.${owner}.*`),
    one(`last.*.${owner}.*`),
    one(answerSubject("*", "*")),
    ...poolRequests.map((request) => one(poolRequestSubject(pool, request))),
  ];
}

/** What the server tells a pool's runners by itself. */
export const runnerNews = (pool: string, owner = "*"): readonly string[] => [
  changedSubject(buckets.deployments, deploymentKey(pool, "*")),
  changedSubject(buckets.runners, runnerKey(pool, "*")),
  changedSubject(buckets.quotas, owner),
];

/** The builder writes bundles and looks whether one is there; what it is asked comes to it. */
export const builderServices: readonly Service[] = [
  one(setUpCheck),
  one(`$O.${bundleStore}.C.*`),
  one(`$O.${bundleStore}.M.*`),
  one(api(`DIRECT.GET.${bundles}.$O.${bundleStore}.M.*`)),
];

/** What the account of the streams offers: everything that some other account may import a part of. */
export const offered: { readonly services: readonly Service[]; readonly news: readonly string[] } = {
  services: [
    one(setUpCheck),
    one(api(`CONSUMER.INFO.${streams.invocations}.*`)),
    many(api(`CONSUMER.MSG.NEXT.${streams.invocations}.*`)),
    one(api(`CONSUMER.RESET.${streams.invocations}.*`)),
    one(`$JS.ACK.${streams.invocations}.>`),
    one(api(`DIRECT.GET.${bucket(buckets.deployments)}.>`)),
    many(api(`DIRECT.GET.${bucket(buckets.runners)}`)),
    one(`$KV.${buckets.runners}.>`),
    one(api(`DIRECT.GET.${bucket(buckets.quotas)}.>`)),
    one(api(`DIRECT.GET.${bucket(buckets.floors)}.>`)),
    one(api(`DIRECT.GET.${bundles}.>`)),
    one(api(`DIRECT.GET.${streams.runs}.>`)),
    one(api(`DIRECT.GET.${streams.state}.>`)),
    one("runs.>"),
    one("last.>"),
    one("answer.>"),
    one("pool.>"),
    one(`$O.${bundleStore}.>`),
  ],
  news: [buckets.deployments, buckets.runners, buckets.quotas].map((name) => changedSubject(name, ">")),
};
