import { z } from "zod";
import { InvalidInput } from "../../../domain/errors.ts";
import { partitionWindow } from "../../../domain/invocation/partition.ts";
import { partitionCount, streamNames, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { maxBytesOf } from "./stream-limits.ts";

/** -1, like any negative number: no limit. */
const limits = z.object({
  max_storage: z.number(),
  max_streams: z.number(),
  max_consumers: z.number(),
  max_ack_pending: z.number().default(-1),
  storage_max_stream_bytes: z.number().default(-1),
  max_bytes_required: z.boolean().default(false),
});
const usage = z.object({ limits, storage: z.number(), reserved_storage: z.number().default(0), streams: z.number() });
type Usage = z.output<typeof usage>;
const accountInfo = usage.extend({ tiers: z.record(z.string(), usage).optional() });
export type AccountInfo = z.output<typeof accountInfo>;

export interface NeededRoom {
  /** Copies of each stream. */
  readonly replicas: number;
  /** Bytes of all streams, without copies. */
  readonly storeBytes: number;
}

/** A stream of this installation, which setup has created before. */
export interface CreatedStream {
  readonly replicas: number;
  /** Stored bytes of one copy. */
  readonly bytes: number;
  /** -1: no limit. */
  readonly maxBytes: number;
}

/** Consumers of one stream: those of four pools. */
const consumerCount = 4 * partitionCount;
const requestTimeoutMs = 5_000;

/** @throws InvalidInput if the limits of the account, which others may use too, are below what the streams need */
export async function requireAccountRoom({ nats, apiPrefix, manager }: Connection, needed: NeededRoom): Promise<void> {
  const answer = await nats.request(`${apiPrefix}.INFO`, "", { timeout: requestTimeoutMs });
  const problems = tooSmall(accountInfo.parse(answer.json()), await listCreated(manager), needed);
  if (problems.length > 0) throw new InvalidInput(`the account of NATS is too small: ${problems.join("; ")}`, { code: "nats_account" });
}

/** A setup that was killed has created only some of the streams. */
async function listCreated(manager: Connection["manager"]): Promise<readonly CreatedStream[]> {
  const created: CreatedStream[] = [];
  for await (const { config, state } of manager.streams.list())
    if (streamNames.includes(config.name)) created.push({ replicas: config.num_replicas, bytes: state.bytes, maxBytes: config.max_bytes });
  return created;
}

/** Sentences about limits that are too low. An account may have limits for each number of replicas, its tiers. */
export function tooSmall(info: AccountInfo, created: readonly CreatedStream[], needed: NeededRoom): readonly string[] {
  const { replicas, storeBytes } = needed;
  const tier = info.tiers?.[`R${replicas}`];
  if (info.tiers !== undefined && tier === undefined)
    return [`it has no limits for ${replicas} replicas, only for ${Object.keys(info.tiers).join(", ")}`];
  const { limits: max } = tier ?? info;
  const others = tier === undefined ? usedByOthers(info, created) : usedByOthersOfTier(tier, created, replicas);
  // In tiers NATS does not count the copies.
  const bytes = storeBytes * (tier === undefined ? replicas : 1);
  const storage = max.max_storage < 0 ? Infinity : Math.floor(Math.max(0, max.max_storage - others.bytes));
  const counts: readonly (readonly [string, number, number])[] = [
    ["streams leaves", max.max_streams < 0 ? -1 : Math.max(0, max.max_streams - others.streams), streamNames.length],
    ["consumers of a stream is", max.max_consumers, consumerCount],
    ["unacked messages of a consumer (max_ack_pending) is", positive(max.max_ack_pending), partitionWindow],
    ["bytes of a stream is", positive(max.storage_max_stream_bytes), maxBytesOf(streams.runs, storeBytes)],
  ];
  return [
    ...(storage < bytes ? [tooLittleStorage(storage, bytes, replicas)] : []),
    ...counts
      .filter(([, limit, need]) => limit >= 0 && limit < need)
      .map(([of, limit, need]) => `its limit of ${of} ${limit}, and Headwater needs ${need}`),
    ...(max.max_bytes_required
      ? ["it requires max_bytes of every stream, with which NATS would drop accepted requests of a full stream: turn that off"]
      : []),
  ];
}

/** For these limits 0 is no limit too. */
const positive = (limit: number): number => (limit > 0 ? limit : -1);

const tooLittleStorage = (limit: number, need: number, replicas: number): string =>
  `its storage limit leaves ${limit} bytes, and the streams need ${need} with ${replicas} ${replicas === 1 ? "replica" : "replicas"}: raise the limit, or lower HEADWATER_STORE_SIZE (chart: nats.storeSize)`;

interface Used {
  readonly streams: number;
  readonly bytes: number;
}

/** NATS reports the stored bytes of all copies, and the reserved bytes of one. */
function usedByOthers({ storage, reserved_storage, streams: used }: Usage, created: readonly CreatedStream[], countedCopies = 1): Used {
  const stored = storage - sum(created.map(({ bytes, replicas }) => bytes * replicas));
  const reserved = reserved_storage - sum(created.map(({ maxBytes }) => Math.max(0, maxBytes)));
  return { streams: used - created.length, bytes: Math.max(0, stored / countedCopies, reserved) };
}

/** The limit of a tier is for one copy of its streams. */
function usedByOthersOfTier(tier: Usage, created: readonly CreatedStream[], replicas: number): Used {
  const inTier = created.filter((stream) => stream.replicas === replicas);
  return usedByOthers(tier, inTier, replicas);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
