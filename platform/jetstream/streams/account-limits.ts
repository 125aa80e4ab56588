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
const accountInfo = usage.extend({ tiers: z.record(z.string(), usage).optional() });
export type AccountInfo = z.output<typeof accountInfo>;

export interface NeededRoom {
  /** Copies of each stream. */
  readonly replicas: number;
  /** Bytes of all streams, without copies. */
  readonly storeBytes: number;
  /** The streams exist, and count as used. */
  readonly exists: boolean;
}

/** Consumers of one stream: those of four pools. */
const consumerCount = 4 * partitionCount;
const requestTimeoutMs = 5_000;

/** @throws InvalidInput if the limits of the account, which others may use too, are below what the streams need */
export async function requireAccountRoom({ client, apiPrefix }: Connection, needed: NeededRoom): Promise<void> {
  const answer = await client.request(`${apiPrefix}.INFO`, "", { timeout: requestTimeoutMs });
  const problems = tooSmall(accountInfo.parse(answer.json()), needed);
  if (problems.length > 0) throw new InvalidInput(`the account of NATS is too small: ${problems.join("; ")}`, { code: "nats_account" });
}

/** Sentences about limits that are too low. An account may have limits for each number of replicas, its tiers. */
export function tooSmall(info: AccountInfo, { replicas, storeBytes, exists }: NeededRoom): readonly string[] {
  const tier = info.tiers?.[`R${replicas}`];
  if (info.tiers !== undefined && tier === undefined)
    return [`it has no limits for ${replicas} replicas, only for ${Object.keys(info.tiers).join(", ")}`];
  const { limits: max, storage, reserved_storage, streams: used } = tier ?? info;
  // In tiers NATS does not count the copies.
  const bytes = storeBytes * (tier === undefined ? replicas : 1);
  const free = max.max_storage - (exists ? 0 : Math.max(storage, reserved_storage));
  const largest = maxBytesOf(streams.runs, storeBytes);
  const checks: readonly (readonly [number, number, string])[] = [
    [
      max.max_storage < 0 ? -1 : Math.max(0, free),
      bytes,
      `storage, with ${replicas} replica(s): raise its limit, or lower HEADWATER_STORE_SIZE (chart: nats.storeSize)`,
    ],
    [max.max_streams < 0 ? -1 : max.max_streams - (exists ? 0 : used), exists ? 0 : streamNames.length, "streams"],
    [max.max_consumers, consumerCount, "consumers of a stream"],
    [max.max_ack_pending > 0 ? max.max_ack_pending : -1, partitionWindow, "unacked messages of a consumer (max_ack_pending)"],
    [max.storage_max_stream_bytes > 0 ? max.storage_max_stream_bytes : -1, largest, "bytes of one stream"],
  ];
  return [
    ...checks.filter(([limit, need]) => limit >= 0 && limit < need).map(([limit, need, what]) => `it allows ${limit} of ${need} ${what}`),
    ...(max.max_bytes_required
      ? ["it requires max_bytes of every stream, with which NATS would drop accepted requests of a full stream: turn that off"]
      : []),
  ];
}
