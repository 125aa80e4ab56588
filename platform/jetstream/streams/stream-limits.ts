import type { StreamInfo } from "@nats-io/jetstream";
import { bundleStore, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/**
 * Shares of the store, in percent. The rest is for buckets, which hold an entry for each source, subscription and runner: without room for
 * heartbeats nothing would run.
 */
const limitedShares: Readonly<Record<string, number>> = {
  [streams.runs]: 31,
  [streams.state]: 15,
  [streams.files]: 10,
  [`OBJ_${bundleStore}`]: 5,
  [streams.workflows]: 2,
};
/** A stream with schedules cannot refuse messages, only drop the oldest (nats-server 2.15). So these have a share without a limit. */
const unlimitedShares: Readonly<Record<string, number>> = { [streams.invocations]: 18, [streams.deliveries]: 14 };

/** `max_bytes` of a stream; -1: no limit. @param storeBytes bytes of a server's disk for all streams */
export const maxBytesOf = (stream: string, storeBytes: number | undefined): number => bytesOf(limitedShares[stream], storeBytes) ?? -1;

function bytesOf(share: number | undefined, storeBytes: number | undefined): number | undefined {
  return share === undefined || storeBytes === undefined ? undefined : Math.floor((storeBytes * share) / 100);
}

export interface StreamUsage {
  readonly stream: string;
  readonly bytes: number;
  /** -1: no limit. */
  readonly maxBytes: number;
}

/** Size of each stream, with its limit or share. @throws when NATS does not answer */
export async function streamUsage({ manager }: Connection): Promise<readonly StreamUsage[]> {
  const found: StreamUsage[] = [];
  for await (const { config, state } of manager.streams.list())
    if (config.name in limitedShares || config.name in unlimitedShares)
      found.push({ stream: config.name, bytes: state.bytes, maxBytes: config.max_bytes });
  return withShares(found).toSorted((a, b) => a.stream.localeCompare(b.stream));
}

/** Gives streams without a limit their share of the store. */
export function withShares<Usage extends StreamUsage>(usages: readonly Usage[]): readonly Usage[] {
  // The limit of RUNS shows the size of the store that setup used.
  const runs = usages.find(({ stream }) => stream === streams.runs);
  const storeBytes = runs === undefined || runs.maxBytes <= 0 ? undefined : (100 * runs.maxBytes) / (limitedShares[runs.stream] ?? 100);
  return usages.map((each) => ({ ...each, maxBytes: bytesOf(unlimitedShares[each.stream], storeBytes) ?? each.maxBytes }));
}

/** Above this share of its limit a stream counts as full: the next large message may not fit. */
const fullShare = 0.95;

/** Owners have shares of these streams, and what does not fit becomes a dead letter: no work of others waits for room. */
const shared: readonly string[] = [streams.workflows, streams.files];

export const isFull = ({ stream, bytes, maxBytes }: StreamUsage): boolean =>
  !shared.includes(stream) && maxBytes > 0 && bytes >= fullShare * maxBytes;

/** Of the limit of a stream that owners share. The rest is for the small shares that owners have in a full stream. */
const intendedShare = 3 / 4;

/** Size of a stream that owners share, with its intended maximum; undefined: it has no limit. */
export function sharedUsage({ config, state }: Pick<StreamInfo, "config" | "state">): Omit<StreamUsage, "stream"> | undefined {
  const maxBytes = config.max_bytes * intendedShare;
  return maxBytes > 0 ? { bytes: state.bytes, maxBytes } : undefined;
}

/** Size of the stream DELIVERIES, read at most once a second, when the returned function is called. */
export function followDeliveriesUsage(connection: Connection): () => StreamUsage | undefined {
  let usage: StreamUsage | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - readAt >= readIntervalMs) {
      readAt = now;
      streamUsage(connection).then(
        (all) => (usage = all.find(({ stream }) => stream === streams.deliveries)),
        () => undefined, // NATS is unavailable: the last known size stays.
      );
    }
    return usage;
  };
}
const readIntervalMs = 1_000;
