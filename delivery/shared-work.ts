import { PartitionShare, type PartitionWork } from "../domain/invocation/partition-share.ts";
import type { Log } from "../domain/log.ts";
import { pause } from "../domain/retry.ts";
import type { OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import type { Recorder } from "./record/recorder.ts";
import type { Replicas, RoutedReading, Runs } from "./routing/ports.ts";

/** First attempts end or are stored within the delivery deadline of one second; the rest is for a slow NATS. */
const handoverMs = 3_000;
/** For commits in progress; the rest of the handover is for posts of ordered queues that are in flight. */
const routedMs = 1_200;

export interface SharedWorkParts {
  readonly ports: { readonly runs: Pick<Runs, "publishFloors">; readonly replicas: Replicas; readonly log: Log };
  readonly routing: RoutedReading;
  readonly recorder: Recorder;
  readonly ordered: OrderedWebhooks;
}

/**
 * Opens and closes this replica's share of the partitions as replicas join and leave. A replica that loses a partition finishes the
 * commits it was handed, and publishes its floor.
 */
export async function shareWork({ ports, routing, recorder, ordered }: SharedWorkParts): Promise<PartitionShare<PartitionWork>> {
  const { replicas, log, runs } = ports;
  const openPartition = async (partition: number): Promise<PartitionWork> => {
    // The floor first: what the previous replica stores after it is of commits that are routed here again. Commits last: the queues must know
    // what is stored.
    const floor = await routing.floor(partition);
    const queues = await ordered.open(partition);
    const routed = await routing.open(partition, floor).catch((error: unknown) => queues.stop().then(() => Promise.reject(error)));
    const recorded = recorder.open(partition);
    return {
      stop: async () => {
        queues.retire();
        const recording = recorded.close();
        // Commits of a queue to which another replica has appended are never done here: the next replica routes them again.
        await routed.close(AbortSignal.timeout(routedMs));
        await queues.stop();
        await recording;
        await runs.publishFloors();
      },
    };
  };
  const share: PartitionShare<PartitionWork> = new PartitionShare(
    { member: replicas.replica, handoverMs },
    {
      join: ({ onMembers, holds }) =>
        replicas.join({
          // The list of members may be older than this replica.
          onMembers: (members) => onMembers([...new Set([...members, replicas.replica])]),
          holds,
          onLapse: () => share.lapse(),
        }),
      heldByOthers: () => replicas.heldByOthers(),
      open: openPartition,
      pause,
      log,
    },
  );
  await share.start();
  return share;
}
