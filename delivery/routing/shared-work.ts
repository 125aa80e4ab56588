import { PartitionShare, type PartitionWork } from "../../domain/invocation/partition-share.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { pause } from "../../domain/retry.ts";
import type { OrderedWebhooks } from "../ordered/ordered-webhooks.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { PartitionReading } from "./ports.ts";
import type { Recorder } from "../record/recorder.ts";

/** Shared like a partition of RUNS, behind the last of these: the work for all ordered webhooks. */
const orderedPartition = partitionCount;
/** First attempts take their patience, a second, until they have ended or are messages of their own; the rest is for a slow NATS. */
const handoverMs = 3_000;

export interface WorkParts {
  readonly ports: Pick<DeliveryPorts, "runs" | "replicas" | "log">;
  readonly routing: PartitionReading;
  readonly recorder: Recorder;
  readonly ordered: OrderedWebhooks;
}

/** What this replica does of the work that replicas share. A replica that loses a partition lets its commits be done and publishes its floor. */
export async function shareWork({ ports, routing, recorder, ordered }: WorkParts): Promise<PartitionShare<PartitionWork>> {
  const { replicas, log, runs } = ports;
  const openPartition = async (partition: number): Promise<PartitionWork> => {
    const routed = await routing.open(partition);
    const recorded = recorder.open(partition);
    return {
      stop: async () => {
        await Promise.all([routed.close(), recorded.close()]);
        await runs.publishFloors();
      },
    };
  };
  const share: PartitionShare<PartitionWork> = new PartitionShare(
    { member: replicas.replica, handoverMs, count: partitionCount + 1 },
    {
      join: ({ onMembers, holds }) =>
        replicas.join({
          // A list may be older than this replica.
          onMembers: (members) => onMembers([...new Set([...members, replicas.replica])]),
          holds,
          onLapse: () => share.lapse(),
        }),
      heldByOthers: () => replicas.heldByOthers(),
      open: (partition) => (partition === orderedPartition ? ordered.open() : openPartition(partition)),
      pause,
      log,
    },
  );
  await share.start();
  return share;
}
