import { PartitionShare, type PartitionWork } from "../domain/invocation/partition-share.ts";
import type { Log } from "../domain/log.ts";
import { pause } from "../domain/retry.ts";
import type { OpenQueues, OrderedWebhooks } from "./ordered/ordered-webhooks.ts";
import type { Recorder } from "./record/recorder.ts";
import type { Replicas, Runs } from "./routing/ports.ts";

/** First attempts end or are stored within the delivery deadline of one second; the rest is for a slow NATS. */
const handoverMs = 3_000;
/** For commits in progress; the rest of the handover is for posts of ordered queues that are in flight. */
const routedMs = 1_200;

export interface SharedWorkParts {
  readonly ports: { readonly runs: Pick<Runs, "publishFloors">; readonly replicas: Replicas; readonly log: Log };
  readonly routing: ReturnType<Runs["route"]>;
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
    const opened: OpenQueues[] = [];
    // Behind the floor: what a former replica stores from then on is of commits that are routed here again. Before the first commit: its queues
    // show what is stored already.
    const routed = await routing.open(partition, async () => void opened.push(await ordered.open(partition)));
    const recorded = recorder.open(partition);
    return {
      stop: async () => {
        for (const queues of opened) queues.retire();
        const recording = recorded.close();
        // A commit is never done here if another replica has stored events of its queue. The next one routes it.
        await routed.close(AbortSignal.timeout(routedMs));
        for (const queues of opened) await queues.stop();
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
