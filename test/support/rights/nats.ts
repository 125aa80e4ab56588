import { partitionCount } from "../../../domain/subjects.ts";

/**
 * What the user of each role may do in NATS. `runner` is a runner of the pool `own`, whose owner is `u_one`; `backup` is the user of backups.
 * A row is a right: what is published or subscribed to, and the roles that may. All others may not.
 */
export const natsRoles = ["api", "ingress", "delivery", "operator", "builder", "runner", "backup"] as const;
export type NatsRole = (typeof natsRoles)[number];

export interface NatsRight {
  /** Patterns of subjects. */
  readonly subjects: readonly string[];
  readonly roles: readonly NatsRole[];
}

/** @param roles separated by spaces */
function right(subjects: string | readonly string[], roles: string): NatsRight {
  const named = roles.split(" ").filter((role) => role !== "");
  return { subjects: [subjects].flat(), roles: natsRoles.filter((role) => named.includes(role)) };
}

const requests = (names: readonly string[]): readonly string[] => names.map((name) => `$JS.API.${name}`);
/** To read a stream through consumers of one's own. */
const reading = (stream: string): readonly string[] => [
  ...following(stream),
  ...requests([
    `CONSUMER.CREATE.${stream}`,
    `CONSUMER.DURABLE.CREATE.${stream}.*`,
    `CONSUMER.INFO.${stream}.*`,
    `CONSUMER.RESET.${stream}.*`,
  ]),
  `$JS.ACK.${stream}.>`,
];
/** The same without acks. */
const following = (stream: string): readonly string[] =>
  requests([`STREAM.INFO.${stream}`, `CONSUMER.CREATE.${stream}.>`, `CONSUMER.MSG.NEXT.${stream}.*`, `CONSUMER.DELETE.${stream}.*`]);
/** To read entries or messages by their subject, or several at once. */
const direct = (stream: string): readonly string[] => requests([`DIRECT.GET.${stream}`, `DIRECT.GET.${stream}.>`]);
/** How many deliveries are due. */
const deliveryConsumers = "$JS.API.CONSUMER.INFO.DELIVERIES.*";
/** The histories of the sources and workflows of the runner's owner. */
const histories = ["u_one.*", "u_one.*.*"];

const consumers = Array.from({ length: partitionCount }, (_, partition) => `INVOCATIONS.runner-own-${partition}`);

const ofRunners: readonly NatsRight[] = [
  right(
    consumers.flatMap((consumer) => [
      ...requests(["INFO", "MSG.NEXT", "RESET"].map((request) => `CONSUMER.${request}.${consumer}`)),
      `$JS.ACK.${consumer}.>`,
    ]),
    "runner",
  ),
  right("$JS.API.DIRECT.GET.KV_DEPLOYMENTS.$KV.DEPLOYMENTS.own.*", "runner"),
  right("$JS.API.DIRECT.GET.KV_QUOTAS.$KV.QUOTAS.u_one", "runner"),
  right("$KV.RUNNERS.own.*", "runner"),
  right(
    histories.flatMap((history) => [
      ...requests(["RUNS", "STATE"].map((stream) => `DIRECT.GET.${stream}.runs.*.${history}`)),
      `runs.*.${history}`,
      `last.*.${history}`,
    ]),
    "runner",
  ),
  right(["files.u_one.*.*.*", "$JS.API.DIRECT.GET.FILES.files.u_one.*.*.*"], "runner"),
  right(
    [
      "pool.own.move",
      "pool.own.arm",
      "pool.own.cancel",
      "pool.own.consumers",
      "pool.own.wake",
      "pool.own.state.u_one",
      "pool.own.files.u_one",
      "pool.own.store.u_one",
    ],
    "runner",
  ),
];

const inOtherPools = (subject: string): string => subject.replace(/\bown\b/, "other").replace(/\bu_one\b/, "u_two");

export const published: readonly NatsRight[] = [
  ...ofRunners,
  // What a runner may do for its pool and its owner, it may do for no others.
  ...ofRunners.map(({ subjects }) => right(subjects.map(inOtherPools), "")),
  // Work that the streams hold.
  right("invoke.>", "api ingress delivery operator"),
  right("timer.>", "delivery operator"),
  right("timer.restored", "backup"),
  right("last.>", "operator"),
  right("replay.>", "api"),
  right(["retry.>", "workflow.>", "ordered.*.*.*.*"], "delivery"),
  right(["runs.>", "deliver.>", "changed.>", "waiting.>"], ""),
  // Requests of one role to another.
  right("build.request", "api operator"),
  right(["configure.request", "connect.request", "operator.status", "deliver.again.*", "webhook.test"], "api"),
  right("emitted.*", "delivery"),
  right("seen.ROUTES", "operator"),
  right("answer.*.*", "runner"),
  right(["files.*.*.*.*", "$JS.API.DIRECT.GET.FILES.files.*.*.*.*", "pool.ingress.files.*"], "ingress"),
  right(["webhook.ordered.append.*", "webhook.ordered.attempt.*"], "delivery"),
  // Entries.
  right(["$KV.DEPLOYMENTS.>", "$KV.VERSIONS.>"], "operator backup"),
  right(["$KV.ENDPOINTS.>", "$KV.ROUTES.>"], "operator"),
  right(["$KV.FLOORS.*", "$KV.QUOTAS.*", "$KV.REPLICAS.delivery.*"], "delivery"),
  right(["$O.BUNDLES.C.*", "$O.BUNDLES.M.*"], "builder"),
  right("$O.BUNDLES.M.bytes.*", "builder operator"),
  // Streams.
  right(requests(["STREAM.CREATE.*", "STREAM.UPDATE.*", "STREAM.PURGE.*", "STREAM.NAMES"]), "operator"),
  right(requests(["INFO", "STREAM.INFO.*"]), "operator backup"),
  right("$JS.API.STREAM.LIST", "api delivery operator backup"),
  right("$JS.API.STREAM.INFO.OBJ_BUNDLES", "api ingress delivery builder runner"),
  right(requests(["STREAM.INFO.DELIVERIES", "STREAM.INFO.INVOCATIONS"]), "api delivery"),
  right(requests(["STREAM.INFO.WORKFLOWS", "STREAM.INFO.FILES"]), "delivery"),
  right(requests(["STREAM.PURGE.RUNS", "STREAM.PURGE.DELIVERIES", "STREAM.PURGE.WORKFLOWS"]), "delivery"),
  right("$JS.API.STREAM.PURGE.INVOCATIONS", "backup"),
  right("$JS.API.STREAM.PURGE.STATE", ""),
  right(requests(["STREAM.SNAPSHOT.*", "STREAM.RESTORE.*"]), "backup"),
  right(["$JS.SNAPSHOT.ACK.*.*", "$JS.SNAPSHOT.RESTORE.*.*"], "backup"),
  right(requests(["STREAM.DELETE.*", "STREAM.LEADER.STEPDOWN.*", "STREAM.PEER.REMOVE.*", "ACCOUNT.PURGE.*", "SERVER.REMOVE"]), ""),
  // Messages by their sequence.
  right("$JS.API.STREAM.MSG.GET.RUNS", "api delivery operator backup"),
  right("$JS.API.STREAM.MSG.GET.STATE", "delivery operator backup"),
  right("$JS.API.STREAM.MSG.GET.FILES", "operator"),
  right(requests(["DELIVERIES", "ORDERED", "WORKFLOWS"].map((stream) => `STREAM.MSG.GET.${stream}`)), "delivery"),
  right(requests(["STREAM.MSG.DELETE.DELIVERIES", "STREAM.MSG.DELETE.ORDERED"]), "delivery"),
  right("$JS.API.STREAM.MSG.DELETE.RUNS", "backup"),
  right(requests(["STREAM.MSG.GET.*", "STREAM.MSG.DELETE.*"]), ""),
  // Consumers of one's own.
  right(reading("RUNS"), "delivery"),
  right(following("RUNS"), "api delivery"),
  right(following("STATE"), "delivery"),
  right(
    reading("DELIVERIES").filter((subject) => subject !== deliveryConsumers),
    "delivery",
  ),
  right(deliveryConsumers, "api delivery"),
  right([...reading("INVOCATIONS"), "$JS.API.CONSUMER.LIST.INVOCATIONS"], "operator"),
  right(requests(["CONSUMER.CREATE.INVOCATIONS.>", "CONSUMER.INFO.INVOCATIONS.*", "CONSUMER.DELETE.INVOCATIONS.*"]), "delivery"),
  right(reading("KV_DEPLOYMENTS"), "operator backup"),
  right(reading("KV_VERSIONS"), "operator backup"),
  right(reading("KV_ENDPOINTS"), "ingress operator"),
  right(reading("KV_QUOTAS"), "ingress operator"),
  right(reading("KV_REPLICAS"), "api operator"),
  right(reading("KV_ROUTES"), "delivery operator"),
  right(reading("KV_RUNNERS"), "api ingress delivery operator"),
  right(reading("KV_FLOORS"), "operator"),
  right(reading("OBJ_BUNDLES"), "operator"),
  right(reading("WORKFLOWS"), ""),
  // Entries and messages by their subject.
  ...["DEPLOYMENTS", "ENDPOINTS", "FLOORS", "QUOTAS", "REPLICAS", "ROUTES", "RUNNERS", "VERSIONS"].map((bucket) =>
    right(direct(`KV_${bucket}`), "operator"),
  ),
  right(requests(["RUNS", "STATE", "INVOCATIONS", "OBJ_BUNDLES"].map((stream) => `DIRECT.GET.${stream}.>`)), "operator"),
  right("$JS.API.DIRECT.GET.INVOCATIONS", "api delivery operator"),
  right("$JS.API.DIRECT.GET.DELIVERIES", "api delivery"),
  right(
    requests(["DIRECT.GET.DELIVERIES.retry.>", "DIRECT.GET.INVOCATIONS.timer.>", "DIRECT.GET.RUNS", "DIRECT.GET.KV_LINES.$KV.LINES.*"]),
    "delivery",
  ),
  right("$JS.API.DIRECT.GET.KV_DEPLOYMENTS.$KV.DEPLOYMENTS.>", "delivery"),
  right("$JS.API.DIRECT.GET.KV_ENDPOINTS.$KV.ENDPOINTS.>", "ingress"),
  right("$JS.API.DIRECT.GET.KV_FLOORS.$KV.FLOORS.*", "api delivery backup runner"),
  right(requests(["DIRECT.GET.KV_QUOTAS", "DIRECT.GET.KV_REPLICAS"]), "delivery"),
  right("$JS.API.DIRECT.GET.KV_RUNNERS", "runner"),
  right("$JS.API.DIRECT.GET.OBJ_BUNDLES.$O.BUNDLES.C.*", "api runner"),
  right("$JS.API.DIRECT.GET.OBJ_BUNDLES.$O.BUNDLES.M.*", "api builder runner"),
  right("$JS.API.DIRECT.GET.OBJ_BUNDLES.$O.BUNDLES.M.bytes.*", "builder"),
  right(requests(["DIRECT.GET.STATE", "DIRECT.GET.OBJ_BUNDLES", "DIRECT.GET.DELIVERIES.>"]), ""),
  // The server.
  right(["$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.STATSZ", "$SYS.REQ.CLAIMS.UPDATE"], ""),
];

export const subscribed: readonly NatsRight[] = [
  // Responses to one's own requests.
  ...natsRoles.map((role) => right(`_INBOX_${role}.>`, role)),
  right("_INBOX.>", ""),
  right("answer.*.>", "api ingress operator"),
  right("emitted.*", "api"),
  right(["configure.request", "connect.request", "operator.status"], "operator"),
  right("build.request", "builder"),
  right(
    [
      "pool.*.move",
      "pool.*.arm",
      "pool.*.cancel",
      "pool.*.consumers",
      "pool.*.wake",
      "pool.*.state.*",
      "pool.*.files.*",
      "pool.*.store.*",
      "webhook.test",
    ],
    "delivery",
  ),
  right(["webhook.ordered.append.*", "webhook.ordered.attempt.*", "seen.ROUTES", "changed.REPLICAS.delivery.*"], "delivery"),
  // Of all owners, as far as the account of the pool imports them.
  right(["changed.DEPLOYMENTS.own.*", "changed.RUNNERS.own.*", "changed.QUOTAS.*"], "runner"),
  right(["changed.DEPLOYMENTS.other.*", "changed.RUNNERS.other.*"], ""),
  right([">", "answer.>", "changed.>", "invoke.>", "runs.>", "deliver.>", "$KV.>", "$JS.>", "$SYS.>"], ""),
];
