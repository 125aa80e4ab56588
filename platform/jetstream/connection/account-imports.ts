import {
  answerSubject,
  buckets,
  bundleBytesSubject,
  bundleStore,
  changedSubject,
  dataStoreSubject,
  deploymentKey,
  fileUsageSubject,
  partitionCount,
  poolRequests,
  poolRequestSubject,
  runnerConsumer,
  runnerKey,
  stateUsageSubject,
  streams,
} from "../../../domain/subjects.ts";
import { api, bucket, bundles, setUpCheck } from "./permissions.ts";

/** An import between accounts. A request with several replies needs a service of type `many`. */
export interface Service {
  readonly subject: string;
  readonly answers: "one" | "many";
}

const one = (subject: string): Service => ({ subject, answers: "one" });
const many = (subject: string): Service => ({ subject, answers: "many" });
const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

/**
 * All that the runners of a pool can reach: its invocations (through consumers that other roles create, since a consumer can deliver to any
 * subject), its deployments, bundles by their hash, the histories of its owner's sources, heartbeats, answers, and the requests of
 * `poolRequests`. `*` stands for all pools. A pool without an owner runs the sources of all owners, which subjects cannot distinguish.
 */
export function runnerServices(pool: string, owner = "*"): readonly Service[] {
  const consumers = pool === "*" ? ["*"] : partitions.map((partition) => runnerConsumer(pool, partition));
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
    // Which commits of their owners are not processed yet.
    one(api(`DIRECT.GET.${bucket(buckets.floors)}.$KV.${buckets.floors}.*`)),
    ...["M", "C"].map((kind) => one(api(`DIRECT.GET.${bundles}.$O.${bundleStore}.${kind}.*`))),
    // Histories of sources, and of the runs of workflows.
    ...[`${owner}.*`, `${owner}.*.*`].flatMap((history) => [
      ...[streams.runs, streams.state].map((stream) => one(api(`DIRECT.GET.${stream}.runs.*.${history}`))),
      one(`runs.*.${history}`),
      one(`last.*.${history}`),
    ]),
    // Files of the runs of workflows.
    one(`files.${owner}.*.*.*`),
    one(api(`DIRECT.GET.${streams.files}.files.${owner}.*.*.*`)),
    one(answerSubject("*", "*")),
    ...poolRequests.map((request) => one(poolRequestSubject(pool, request))),
    ...[stateUsageSubject, fileUsageSubject, dataStoreSubject].map((subject) => one(subject(pool, owner))),
  ];
}

/** Subjects on which NATS republishes changed entries to the runners of a pool. */
export const runnerNews = (pool: string, owner = "*"): readonly string[] => [
  changedSubject(buckets.deployments, deploymentKey(pool, "*")),
  changedSubject(buckets.runners, runnerKey(pool, "*")),
  changedSubject(buckets.quotas, owner),
];

/** The builder stores bundles and checks whether one exists. */
export const builderServices: readonly Service[] = [
  one(setUpCheck),
  one(`$O.${bundleStore}.C.*`),
  one(`$O.${bundleStore}.M.*`),
  one(api(`DIRECT.GET.${bundles}.$O.${bundleStore}.M.*`)),
  // What each owner is charged for.
  one(bundleBytesSubject("*")),
  one(api(`DIRECT.GET.${bundles}.${bundleBytesSubject("*")}`)),
];

/** The exports of the streams' account, of which other accounts import parts. */
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
    one(api(`DIRECT.GET.${streams.files}.>`)),
    one("files.>"),
    one("runs.>"),
    one("last.>"),
    one("answer.>"),
    one("pool.>"),
    one(`$O.${bundleStore}.>`),
  ],
  news: [buckets.deployments, buckets.runners, buckets.quotas].map((name) => changedSubject(name, ">")),
};
