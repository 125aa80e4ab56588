import { PartitionShare, type PartitionWork } from "../domain/invocation/partition-share.ts";
import type { Log } from "../domain/log.ts";
import { pause } from "../domain/retry.ts";
import type { OpenQueues, OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import type { Recorder } from "./record/recorder.ts";
import type { OpenPartition, PartitionReading, Replicas, Runs } from "./routing/ports.ts";

/** First attempts end or are stored within the delivery deadline of one second; the rest is for a slow NATS. */
const handoverMs = 3_000;

export interface SharedWorkParts {
  readonly ports: { readonly runs: Pick<Runs, "publishFloors">; readonly replicas: Replicas; readonly log: Log };
  readonly routing: PartitionReading;
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
    const queues = await ordered.open(partition);
    const routed = await openRouted(partition, queues);
    const recorded = recorder.open(partition);
    return {
      stop: async () => {
        queues.retire();
        const late = new AbortController();
        // A commit is never done here if another replica has stored events of its queue: the queues must not wait for it to stop.
        await Promise.race([Promise.all([routed.close(), recorded.close()]), pause(handoverMs, late.signal)]);
        late.abort();
        await queues.stop();
        await runs.publishFloors();
      },
    };
  };
  const openRouted = async (partition: number, queues: OpenQueues): Promise<OpenPartition> => {
    let routed: OpenPartition | undefined;
    try {
      routed = await routing.open(partition);
      await queues.start();
      return routed;
    } catch (error) {
      // Queues that stayed open would attempt beside those of the next try, or of another replica.
      await queues.stop();
      void routed?.close(); // Never rejects. The commits that it was handed are routed by the next try.
      throw error;
    }
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
