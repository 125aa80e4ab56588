import type { StreamInfo } from "@nats-io/jetstream";
import type { Installation, LagReport, RunnerReport, StreamReport } from "../../../api/admin/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { streamNames } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { withShares, type StreamUsage } from "../streams/stream-limits.ts";
import { liveDeliveries, liveRunners, type Heartbeat } from "./group.ts";

/**
 * Reads the streams, and the heartbeats of runners and of replicas of the delivery role.
 * @param readLag reads what waits; may fail before delivery has started @param onUnread called with the reason
 */
export function createInstallation(
  connection: Connection,
  readLag: () => Promise<LagReport>,
  onUnread: (error: unknown) => void = () => undefined,
): Installation {
  const read: Installation["read"] = async () => {
    const [found, runners, deliveries, lag] = await Promise.all([
      listStreams(connection),
      liveRunners(connection).list(">"),
      liveDeliveries(connection).list(">"),
      // Before delivery has started, the other parts of the report say more.
      readLag().catch((error: unknown): undefined => {
        onUnread(error);
      }),
    ]);
    return {
      natsVersion: connection.nats.info?.version ?? "unknown",
      streams: found,
      runners: [...runners].map(runnerReport).toSorted(byId),
      deliveries: [...deliveries].map(([key, { holds = [] }]) => ({ id: memberOf(key), partitions: holds })).toSorted(byId),
      lag,
    };
  };
  return {
    read: () =>
      read().catch((cause: unknown) => {
        throw new Unavailable("the state of the streams cannot be read: NATS does not respond, try again in a moment", { cause });
      }),
  };
}

/** Streams of other applications on the same servers are not ours to report. */
const reported: ReadonlySet<string> = new Set(streamNames);

/** Streams, buckets and the object store of this installation. @throws when NATS does not respond */
export async function listStreams({ manager }: Connection): Promise<readonly StreamReport[]> {
  const found: StreamInfo[] = [];
  for await (const info of manager.streams.list()) if (reported.has(info.config.name)) found.push(info);
  const usages = found.map((info) => ({ info, stream: info.config.name, bytes: info.state.bytes, maxBytes: info.config.max_bytes }));
  return withShares(usages)
    .map(streamReport)
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

const streamReport = ({ info: { config, state }, maxBytes }: StreamUsage & { readonly info: StreamInfo }): StreamReport => ({
  name: config.name,
  messages: state.messages,
  bytes: state.bytes,
  maxBytes: config.max_bytes > 0 ? config.max_bytes : null,
  limitBytes: maxBytes > 0 ? maxBytes : null,
  replicas: config.num_replicas,
});

function runnerReport([key, { memoryShare, backlog }]: readonly [string, Heartbeat]): RunnerReport {
  const [pool = ""] = key.split(".");
  return { id: memberOf(key), pool, memoryShare: memoryShare ?? null, fullSources: backlog?.sources.length ?? 0 };
}

const memberOf = (key: string): string => key.slice(key.indexOf(".") + 1);
const byId = (one: { readonly id: string }, other: { readonly id: string }): number => one.id.localeCompare(other.id);
