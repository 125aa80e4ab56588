import type { Runs } from "../../delivery/ports.ts";
import { streams } from "../../domain/subjects.ts";
import { BoundedFollow } from "./bounded-follow.ts";
import type { Connection } from "./connection.ts";
import { FloorPublisher } from "./floors.ts";
import { startTrimming } from "./trim-runs.ts";

/** Bytes of commits that are not routed, or not recorded, in memory. A commit is 8 MiB at most. */
const maxOpenBytes = 32 * 1_048_576;

export interface RunsLog {
  warn(fields: object, message: string): void;
}

/** RUNS as the router and the recorder read it, each from its own floor. What both have processed is trimmed. */
export function runsOf(connection: Connection, log: RunsLog): Runs {
  const failed = (error: unknown): void =>
    log.warn({ op: "runs.floor", err: error }, "floors are not published yet: a crash would repeat more deliveries");
  const floors = new FloorPublisher(connection, failed);
  return {
    route: async (onCommit) => {
      const { stream, routed } = await floors.load();
      const reader = new BoundedFollow({
        connection,
        stream: streams.runs,
        afterSequence: routed,
        maxOpenBytes,
        onMessage: (message, done) => onCommit(message.text(), done, message.subject, { stream, seq: message.seq }),
        onFloor: (floor) => floors.raise({ routed: floor }),
      });
      await reader.start();
      const trimming = startTrimming({
        connection,
        processed: () => floors.processed,
        failed: (error) => log.warn({ op: "runs.trim", err: error }, "RUNS is not trimmed, trying again in a moment"),
      });
      return {
        idle: () => reader.idle(),
        stop: () => reader.stop(),
        close: async () => {
          await trimming.stop();
          await floors.stop();
        },
      };
    },
    record: async (afterSequence, onCommit) => {
      await floors.load();
      const reader = new BoundedFollow({
        connection,
        stream: streams.runs,
        afterSequence,
        maxOpenBytes,
        onMessage: (message, done) => onCommit(message.text(), message.seq, message.subject, done),
        onFloor: (floor) => floors.raise({ recorded: floor }),
      });
      floors.raise({ recorded: afterSequence });
      await reader.start();
      return reader;
    },
  };
}
