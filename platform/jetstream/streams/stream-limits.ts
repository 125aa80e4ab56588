import { bundleStore, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/**
 * How the store is shared out, in percent. What is left is for buckets, which hold an entry for each source, subscription and runner: without
 * room for heartbeats nothing would run.
 */
const limitedShares: Readonly<Record<string, number>> = {
  [streams.runs]: 34,
  [streams.state]: 16,
  [`OBJ_${bundleStore}`]: 5,
  [streams.ordered]: 4,
  [streams.workflows]: 2,
};
/** nats-server refuses no message of a stream with schedules: it could only drop the oldest. So these have a share, and no limit. */
const unlimitedShares: Readonly<Record<string, number>> = { [streams.invocations]: 22, [streams.deliveries]: 12 };

/** What the server lets a stream hold, bytes; -1: no limit of its own. `storeBytes`: what all streams may take of a server's disk. */
export const maxBytesOf = (stream: string, storeBytes: number | undefined): number => bytesOf(limitedShares[stream], storeBytes) ?? -1;

function bytesOf(share: number | undefined, storeBytes: number | undefined): number | undefined {
  return share === undefined || storeBytes === undefined ? undefined : Math.floor((storeBytes * share) / 100);
}

export interface StreamUsage {
  readonly stream: string;
  readonly bytes: number;
  /** -1: none. */
  readonly maxBytes: number;
}

/** What streams hold, against their limit or share. @throws when the server does not answer */
export async function streamUsage({ manager }: Connection): Promise<readonly StreamUsage[]> {
  const found = new Map<string, StreamUsage>();
  for await (const { config, state } of manager.streams.list())
    if (config.name in limitedShares || config.name in unlimitedShares)
      found.set(config.name, { stream: config.name, bytes: state.bytes, maxBytes: config.max_bytes });
  // The limit of RUNS tells how large the store was when setup made it.
  const runs = found.get(streams.runs);
  const storeBytes = runs === undefined || runs.maxBytes <= 0 ? undefined : (100 * runs.maxBytes) / (limitedShares[runs.stream] ?? 100);
  const usage = [...found.values()].map((each) => ({
    ...each,
    maxBytes: bytesOf(unlimitedShares[each.stream], storeBytes) ?? each.maxBytes,
  }));
  return usage.sort((a, b) => a.stream.localeCompare(b.stream));
}

/** Above this part of its limit a stream counts as full: the next large message may not fit. */
const fullPart = 0.95;

export const isFull = ({ bytes, maxBytes }: StreamUsage): boolean => maxBytes > 0 && bytes >= fullPart * maxBytes;

/** What the stream of deliveries holds, asked for at most once a second, whenever somebody looks. */
export function followDeliveriesUsage(connection: Connection): () => StreamUsage | undefined {
  let usage: StreamUsage | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - askedAt >= askEveryMs) {
      askedAt = now;
      streamUsage(connection).then(
        (all) => (usage = all.find(({ stream }) => stream === streams.deliveries)),
        () => undefined, // NATS is away: what was known goes on.
      );
    }
    return usage;
  };
}
const askEveryMs = 1_000;
