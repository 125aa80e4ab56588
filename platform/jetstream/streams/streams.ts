import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { Objm } from "@nats-io/obj";
import { InvalidInput } from "../../../domain/errors.ts";
import { bundleStore, buckets, changedSubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { maxBytesOf } from "./stream-limits.ts";
import { setUpPool } from "../invocations/pool-consumers.ts";

export interface StreamOptions {
  /** Copies of each stream: 1, 3 or 5. */
  readonly replicas: number;
  readonly partitions: number;
  readonly pool: string;
  /** Messages of a partition handed out and not acked; small, so that none waits in a runner for longer than the ack wait. */
  readonly maxAckPending?: number;
  /** Life of a deletion marker of a heartbeat. */
  readonly markerTtlMs?: number;
  /** What all streams together may take of each server's disk; absent: streams have no limits. */
  readonly storeBytes?: number;
  /** Hears of streams whose limit could not be changed, since the store is too full or too small for it. */
  readonly onNoRoom?: (stream: string) => void;
}

type Config = Partial<StreamConfig> & { readonly name: string };

const minimalVersion = [2, 14] as const;
const duplicateWindow = nanos(120_000);
/** Nobody takes events out of the queues of workflows yet: of each the newest stay, for so long. */
const workflowQueue = { maxAgeMs: 7 * 86_400_000, maxEvents: 10_000 };

/** Makes what is missing and changes what differs; safe to repeat, and by several at once. @throws InvalidInput when the server is too old. */
export async function setUpStreams(connection: Connection, options: StreamOptions): Promise<void> {
  requireVersion(connection.nats.info?.version ?? "0");
  const { manager } = connection;
  await Promise.all(
    [...streamConfigs(options), ...bucketConfigs(options)]
      .filter((config) => config.name !== streams.state)
      .map((config) => createOrUpdate(manager, config, options)),
  );
  await createOrUpdate(manager, stateConfig(options), options);
  await setUpPool(connection, options);
  await new Objm(connection.nats).create(bundleStore, { storage: StorageType.File, replicas: options.replicas });
  // Last of all, so that it tells of what is there. What a newer version made is told on: it goes on being there.
  const held = (await findConfig(manager, bundleStream))?.metadata ?? {};
  const made = [...new Set([...recordedSubjects(held), ...subjectsOf(options)])].join(" ");
  const bundles = { name: bundleStream, max_bytes: maxBytesOf(bundleStream, options.storeBytes), metadata: { ...held, [setUpMark]: made } };
  await createOrUpdate(manager, bundles, options);
}

const bundleStream = `OBJ_${bundleStore}`;
/** What setup has made, in the metadata of the one stream that every role may look at. */
const setUpMark = "headwater-set-up";

/** Each stream with each of its subjects. */
const subjectsOf = (options: StreamOptions): readonly string[] =>
  [...streamConfigs(options), stateConfig(options), ...bucketConfigs(options)].flatMap(({ name, subjects = [] }) =>
    subjects.map((each) => `${name}=${each}`),
  );
const recordedSubjects = (metadata: Readonly<Record<string, string>>): readonly string[] =>
  (metadata[setUpMark] ?? "").split(" ").filter((each) => each !== "");

/** The streams that this version needs and setup has not made, or not as this version needs them; undefined when nothing was set up at all. */
export async function missingStreams({ manager }: Connection): Promise<readonly string[] | undefined> {
  const config = await findConfig(manager, bundleStream);
  if (config === undefined) return undefined;
  const made = new Set(recordedSubjects(config.metadata ?? {}));
  const missing = subjectsOf({ replicas: 1, partitions: 1, pool: "" }).filter((each) => !made.has(each));
  return [...new Set(missing.map((each) => each.split("=")[0] ?? each))];
}

/** Has everything been made that this version needs? */
export async function areSetUp(connection: Connection): Promise<boolean> {
  return (await missingStreams(connection))?.length === 0;
}

function streamConfigs(options: StreamOptions): readonly Config[] {
  return unboundedConfigs(options).map((config) => ({ ...config, max_bytes: maxBytesOf(config.name, options.storeBytes) }));
}

function unboundedConfigs({ replicas }: StreamOptions): readonly Config[] {
  const common = { storage: StorageType.File, num_replicas: replicas, duplicate_window: duplicateWindow };
  // Schedules need message TTLs and rollups. Unset, max_consumers means 1,000, which those who follow RUNS would reach.
  const scheduling = { allow_msg_schedules: true, allow_msg_ttl: true, allow_rollup_hdrs: true, allow_direct: true };
  return [
    {
      ...common,
      ...scheduling,
      name: streams.invocations,
      subjects: ["invoke.>", "timer.>"],
      retention: RetentionPolicy.Workqueue,
      max_consumers: 4_096,
    },
    {
      ...common,
      ...scheduling,
      name: streams.deliveries,
      subjects: ["deliver.>", "retry.>", "replay.>"],
      retention: RetentionPolicy.Workqueue,
      max_consumers: 4_096,
    },
    {
      ...common,
      name: streams.ordered,
      subjects: ["ordered.*"],
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.New,
      allow_direct: true,
      max_consumers: 4_096,
    },
    {
      ...common,
      name: streams.workflows,
      subjects: ["workflow.>"],
      retention: RetentionPolicy.Workqueue,
      max_age: nanos(workflowQueue.maxAgeMs),
      max_msgs_per_subject: workflowQueue.maxEvents,
      allow_direct: true,
      max_consumers: 4_096,
    },
    {
      ...common,
      name: streams.runs,
      subjects: ["runs.>"],
      retention: RetentionPolicy.Limits,
      // Trimmed by delivery, never by time. What does not fit is refused: nothing that is not processed is ever dropped for something newer.
      max_age: 0,
      discard: DiscardPolicy.New,
      allow_direct: true,
      max_consumers: 65_536,
    },
  ];
}

/**
 * A copy of the last commit of every source. It is filled again from RUNS, so on a single server it need not be synced to disk by itself.
 * While it is full the server copies nothing, and goes on where it was once there is room; RUNS is not trimmed in the meantime.
 */
function stateConfig({ replicas, storeBytes }: StreamOptions): Config {
  return {
    name: streams.state,
    // Commits are copied from RUNS. Its own subjects are for asking its leader, see commits.ts: nothing is stored there.
    subjects: ["last.>"],
    discard: DiscardPolicy.New,
    max_bytes: maxBytesOf(streams.state, storeBytes),
    sources: [{ name: streams.runs }],
    max_msgs_per_subject: 1,
    storage: StorageType.File,
    num_replicas: replicas,
    allow_direct: true,
    max_consumers: 4_096,
    ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
  };
}

/** Buckets as every NATS client knows them. Heartbeats end by themselves and leave a marker for those who watch. */
function bucketConfigs({ replicas, markerTtlMs = 60_000 }: StreamOptions): readonly Config[] {
  return Object.values(buckets).map((bucket) => ({
    name: `KV_${bucket}`,
    subjects: [`$KV.${bucket}.>`],
    max_msgs_per_subject: 1,
    storage: StorageType.File,
    num_replicas: replicas,
    duplicate_window: duplicateWindow,
    allow_rollup_hdrs: true,
    allow_direct: true,
    deny_delete: true,
    allow_msg_ttl: true,
    max_consumers: 4_096,
    ...(isRepublished(bucket) ? { republish: { src: `$KV.${bucket}.>`, dest: changedSubject(bucket, ">"), headers_only: true } } : {}),
    ...(bucket === buckets.runners || bucket === buckets.replicas ? { subject_delete_marker_ttl: nanos(markerTtlMs) } : {}),
  }));
}

/** Runners may not make consumers, so the server tells them of these by itself; members of all kinds are followed alike. */
const isRepublished = (bucket: string): boolean =>
  [buckets.deployments, buckets.runners, buckets.replicas, buckets.quotas].some((told) => told === bucket);

/** What cannot be changed later (storage, retention, persist mode) stays as it was made. */
async function createOrUpdate(manager: JetStreamManager, config: Config, options: StreamOptions): Promise<void> {
  const existing = await findConfig(manager, config.name);
  if (existing === undefined) return addStream(manager, config, options);
  if (!Object.entries(config).some(([key, value]) => differs(value, existing[key as keyof StreamConfig]))) return;
  try {
    await manager.streams.update(config.name, changeable(config));
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // A full store must not keep an installation from starting: it drains by running.
    options.onNoRoom?.(config.name);
    if (config.metadata !== undefined) await manager.streams.update(config.name, { metadata: config.metadata }).catch(() => undefined);
  }
}

async function addStream(manager: JetStreamManager, config: Config, { storeBytes }: StreamOptions): Promise<void> {
  try {
    await manager.streams.add(config);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    throw new InvalidInput(
      `NATS has no room for the stream ${config.name} of ${config.max_bytes} bytes: set HEADWATER_STORE_SIZE (now ${storeBytes} bytes) to at most its max_file_store, less what others use`,
      { cause: error },
    );
  }
}

/** The limits of all streams together are larger than the server's `max_file_store`, or what is stored is. */
const isNoRoom = (error: unknown): boolean => error instanceof JetStreamApiError && error.code === 10047;

async function findConfig(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}

function changeable(config: Config): Partial<StreamConfig> {
  const { name: _name, storage: _storage, retention: _retention, persist_mode: _mode, max_consumers: _consumers, ...rest } = config;
  return rest;
}

const differs = (wanted: unknown, held: unknown): boolean => JSON.stringify(wanted) !== JSON.stringify(held);

function requireVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > minimalVersion[0] || (major === minimalVersion[0] && minor >= minimalVersion[1])) return;
  throw new InvalidInput(`nats-server ${version} is too old: message schedules need ${minimalVersion.join(".")} or later`);
}
