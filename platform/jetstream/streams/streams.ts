import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { InvalidInput } from "../../../domain/errors.ts";
import { bundleStore, buckets, changedSubject, orderedSubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { maxBytesOf } from "./stream-limits.ts";
import { setUpPool } from "../invocations/pool-consumers.ts";

export interface StreamOptions {
  /** Copies of each stream: 1, 3 or 5. */
  readonly replicas: number;
  readonly partitions: number;
  readonly pool: string;
  /** Bound on unacked messages of a partition. */
  readonly maxAckPending?: number;
  /** Life of the deletion marker of an expired heartbeat. */
  readonly markerTtlMs?: number;
  /** Bytes of each server's disk for all streams. Absent: streams have no limits. */
  readonly storeBytes?: number;
  /** Called for each stream whose limit could not be changed, because the store is too full or too small for it. */
  readonly onNoRoom?: (stream: string) => void;
}

type Config = Partial<StreamConfig> & { readonly name: string };

const minVersion = [2, 14] as const;
const duplicateWindow = nanos(120_000);
/** Events wait this long for a workflow that is not active. */
const maxWaitingMs = 7 * 86_400_000;
/** Of the files of all runs: the operator lists them. */
const maxFileParts = 1_000_000;

/**
 * Creates missing streams and updates those that differ. Streams and subjects are only added, since roles of the previous or the next version may
 * be using them in an upgrade or a rollback. Safe to repeat, and to run concurrently. @throws InvalidInput when NATS is too old
 */
export async function setUpStreams(connection: Connection, options: StreamOptions): Promise<void> {
  requireVersion(connection.nats.info?.version ?? "0");
  const { manager } = connection;
  refuseNewerFormat((await findConfig(manager, bundleStream))?.metadata);
  await Promise.all(
    [...streamConfigs(options), ...bucketConfigs(options)]
      .filter((config) => config.name !== streams.state)
      .map((config) => createOrUpdate(manager, config, options)),
  );
  await createOrUpdate(manager, stateConfig(options), options);
  await setUpPool(connection, options);
  await createOrUpdate(manager, bundlesConfig(options), options);
  // Recorded last, so that the record names only existing streams. Streams of a newer version stay recorded.
  const held = (await findConfig(manager, bundleStream))?.metadata ?? {};
  const made = [...new Set([...recordedSubjects(held), ...subjectsOf(options)])].join(" ");
  const metadata = { ...held, [setUpMark]: made, [formatMark]: String(streamFormat) };
  await createOrUpdate(manager, { ...bundlesConfig(options), metadata }, options);
}

const bundleStream = `OBJ_${bundleStore}`;
/** Metadata with the streams that setup has created, on the one stream that every role may inspect. */
const setUpMark = "headwater-set-up";

/**
 * The oldest format that a version must read to use the streams. Fields of messages may be added, since all versions ignore unknown ones. For any
 * other change, one version reads the new form and still writes the old one; the next version writes the new form, with the next number.
 */
const streamFormat = 1;
const formatMark = "headwater-format";

/** @throws InvalidInput for streams that a newer version has changed beyond what this one reads */
function refuseNewerFormat(metadata: Readonly<Record<string, string>> = {}): void {
  const format = Number(metadata[formatMark] ?? streamFormat);
  if (format <= streamFormat) return;
  throw new InvalidInput(
    `the streams in NATS have format ${format} of a newer version of Headwater, and this version reads up to format ${streamFormat}: start the newer version, or restore the backup from before its upgrade`,
    { code: "newer_streams" },
  );
}

/** Pairs of a stream and one of its subjects. */
const subjectsOf = (options: StreamOptions): readonly string[] =>
  [...streamConfigs(options), stateConfig(options), ...bucketConfigs(options)].flatMap(({ name, subjects = [] }) =>
    subjects.map((each) => `${name}=${each}`),
  );
const recordedSubjects = (metadata: Readonly<Record<string, string>>): readonly string[] =>
  (metadata[setUpMark] ?? "").split(" ").filter((each) => each !== "");

/** Streams of this version that do not exist with all their subjects; undefined if setup has never run. @throws InvalidInput for newer ones */
export async function missingStreams({ manager }: Connection): Promise<readonly string[] | undefined> {
  const config = await findConfig(manager, bundleStream);
  if (config === undefined) return undefined;
  refuseNewerFormat(config.metadata);
  const made = new Set(recordedSubjects(config.metadata ?? {}));
  const missing = subjectsOf({ replicas: 1, partitions: 1, pool: "" }).filter((each) => !made.has(each));
  return [...new Set(missing.map((each) => each.split("=")[0] ?? each))];
}

/** Do all streams of this version exist? */
export async function areSetUp(connection: Connection): Promise<boolean> {
  return (await missingStreams(connection))?.length === 0;
}

function streamConfigs(options: StreamOptions): readonly Config[] {
  return unboundedConfigs(options).map((config) => ({ ...config, max_bytes: maxBytesOf(config.name, options.storeBytes) }));
}

function unboundedConfigs({ replicas }: StreamOptions): readonly Config[] {
  const common = { storage: StorageType.File, num_replicas: replicas, duplicate_window: duplicateWindow };
  // Schedules need message TTLs and rollups. The default of max_consumers, 1,000, is too low for the followers of RUNS.
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
      subjects: ["deliver.>", "retry.>", "replay.>", orderedSubject("*", "*", "*", "*")],
      retention: RetentionPolicy.Workqueue,
      max_consumers: 4_096,
    },
    {
      ...common,
      name: streams.workflows,
      subjects: ["workflow.>"],
      retention: RetentionPolicy.Workqueue,
      max_age: nanos(maxWaitingMs),
      // Delivery bounds what waits for a workflow and an owner. A full stream refuses events: it never drops those of another owner.
      max_msgs_per_subject: -1,
      discard: DiscardPolicy.New,
      allow_direct: true,
      max_consumers: 4_096,
    },
    {
      ...common,
      name: streams.files,
      subjects: ["files.>"],
      retention: RetentionPolicy.Limits,
      // The operator deletes the files of ended runs. A full stream refuses parts: it never drops those of another run.
      max_age: 0,
      discard: DiscardPolicy.New,
      max_msgs: maxFileParts,
      allow_direct: true,
    },
    {
      ...common,
      name: streams.runs,
      subjects: ["runs.>"],
      retention: RetentionPolicy.Limits,
      // Trimmed by delivery, never by age. A full stream refuses commits: it never drops an unprocessed one for a newer one.
      max_age: 0,
      discard: DiscardPolicy.New,
      allow_direct: true,
      // Only end markers of workflow runs have a TTL; STATE copies it.
      allow_msg_ttl: true,
      max_consumers: 65_536,
    },
  ];
}

/**
 * A copy of the last commit of every source. NATS fills it again from RUNS, so on a single server it need not be synced to disk. While it is
 * full, NATS copies nothing, and continues where it stopped once there is room; RUNS is not trimmed in the meantime.
 */
function stateConfig({ replicas, storeBytes }: StreamOptions): Config {
  return {
    name: streams.state,
    // Commits are copied from RUNS. Nothing is stored on its own subjects: publishing there queries the leader, see runs/commits.ts.
    subjects: ["last.>"],
    discard: DiscardPolicy.New,
    max_bytes: maxBytesOf(streams.state, storeBytes),
    sources: [{ name: streams.runs }],
    max_msgs_per_subject: 1,
    storage: StorageType.File,
    num_replicas: replicas,
    allow_direct: true,
    allow_msg_ttl: true,
    max_consumers: 4_096,
    ...(replicas === 1 ? { persist_mode: PersistMode.Async } : {}),
  };
}

/** The object store of bundles, in the form of all NATS clients. */
function bundlesConfig({ replicas, storeBytes }: StreamOptions): Config {
  return {
    name: bundleStream,
    subjects: [`$O.${bundleStore}.C.>`, `$O.${bundleStore}.M.>`],
    discard: DiscardPolicy.New,
    max_bytes: maxBytesOf(bundleStream, storeBytes),
    storage: StorageType.File,
    num_replicas: replicas,
    allow_rollup_hdrs: true,
    allow_direct: true,
  };
}

/** Key-value buckets in the form of all NATS clients. Heartbeats expire and leave a marker for watchers. */
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

/** Runners may not create consumers, so NATS republishes the changes of these buckets. Members of all groups are followed in the same way. */
const isRepublished = (bucket: string): boolean =>
  [buckets.deployments, buckets.runners, buckets.replicas, buckets.quotas].some((republished) => republished === bucket);

/** Settings that NATS cannot change (storage, retention, persist mode) keep their value. */
async function createOrUpdate(manager: JetStreamManager, desired: Config, options: StreamOptions): Promise<void> {
  const existing = await findConfig(manager, desired.name);
  if (existing === undefined) return addStream(manager, desired, options);
  const config = withSubjects(desired, existing);
  if (!Object.entries(config).some(([key, value]) => differs(value, existing[key as keyof StreamConfig]))) return;
  try {
    await manager.streams.update(config.name, changeable(config));
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // A full store must not prevent the start: it drains only while the installation runs.
    options.onNoRoom?.(config.name);
    if (config.metadata !== undefined) await manager.streams.update(config.name, { metadata: config.metadata }).catch(() => undefined);
  }
}

/** Keeps the subjects of another version. A stream without any has no list of them. */
function withSubjects(config: Config, { subjects = [] }: Partial<StreamConfig>): Config {
  return config.subjects === undefined ? config : { ...config, subjects: [...new Set([...subjects, ...config.subjects])] };
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

/** The limits of all streams, or their messages, exceed the server's `max_file_store`. */
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

const differs = (desired: unknown, actual: unknown): boolean => JSON.stringify(desired) !== JSON.stringify(actual);

function requireVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return;
  throw new InvalidInput(`nats-server ${version} is too old: message schedules need ${minVersion.join(".")} or later`);
}
