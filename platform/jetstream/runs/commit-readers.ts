import type { RoutedReading, RunsLog, Runs } from "../../../delivery/routing/ports.ts";
import { partitionOfRun, runsOfPartition, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { FloorPublisher } from "./floor-publisher.ts";
import { doneUpTo, loadFloors, type FloorKind } from "./floors.ts";
import { PartitionedFollow, type PartitionedOptions } from "../read/partitioned-follow.ts";
import { startTrimming } from "./trim-runs.ts";

/** Bound on bytes of unrouted, or unrecorded, commits in memory. A commit has at most 8 MiB. */
const maxOpenBytes = 32 * 1_048_576;

/** The stream RUNS as the router and the recorder read it, each partition from its own floor. Commits that both have processed are trimmed. */
export function createRuns(connection: Connection, log: RunsLog): Runs {
  const failed = (error: unknown): void =>
    log.warn({ op: "runs.floor", err: error }, "floors could not be published: a crash now would repeat more deliveries");
  const publisher = new FloorPublisher(connection, failed);
  const read = (kind: FloorKind, onMessage: PartitionedOptions["onMessage"]): PartitionedFollow => {
    const reader = new PartitionedFollow({
      connection,
      stream: streams.runs,
      filterOf: runsOfPartition,
      partitionOf: partitionOfRun,
      maxOpenBytes,
      namePrefix: "delivery",
      onMessage,
      onInterrupted: (reason) => log.warn({ op: "runs.read", kind, reason }, "reading RUNS was interrupted and continues"),
    });
    publisher.follow(kind, () => reader.floors());
    return reader;
  };
  return {
    route: (onCommit) => {
      let stream = "";
      const reader = read("routed", (message, done) => onCommit(message.text(), done, message.subject, { stream, seq: message.seq }));
      const reading: RoutedReading = {
        floor: async (partition) => {
          const floors = await publisher.load();
          return { stream: floors.stream, seq: floors.routed[partition] ?? 0 };
        },
        open: (partition, floor) => {
          stream = floor.stream;
          return reader.open(partition, floor.seq);
        },
        idle: () => reader.idle(),
        stop: () => reader.stop(),
      };
      return reading;
    },
    record: (onCommit) => {
      const reader = read("recorded", (message, done) => onCommit(message.text(), message.seq, message.subject, done));
      return {
        open: async (partition, afterSequence) => {
          await publisher.load();
          return reader.open(partition, afterSequence);
        },
        idle: () => reader.idle(),
        stop: () => reader.stop(),
      };
    },
    publishFloors: () => publisher.publish(),
    startTrimming: () =>
      startTrimming({
        connection,
        processed: (upTo) => processedUpTo(connection, upTo),
        failed: (error) => log.warn({ op: "runs.trim", err: error }, "RUNS could not be trimmed, trying again"),
      }),
    close: () => publisher.stop(),
  };
}

/** Highest sequence, at most `upTo`, up to which all partitions are routed and recorded. @throws when NATS does not answer */
async function processedUpTo(connection: Connection, upTo: number): Promise<number> {
  const floors = await loadFloors(connection);
  const processed = floors.routed.map((routed, partition) => Math.min(routed, floors.recorded[partition] ?? 0));
  return doneUpTo(connection, processed, upTo);
}
