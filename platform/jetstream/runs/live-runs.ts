import type { RunMessages } from "../../../api/streams/ports.ts";
import { HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { partitionOfRun, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { followFrom } from "../read/follow.ts";
import { recordedRuns } from "../streams/stream-identity.ts";

/**
 * The stream RUNS for clients that follow sources live.
 * @param readPositions the recorder's position in each partition, by `recordedRuns`
 */
export function readRunMessages(connection: Connection, readPositions: (stream: string) => Promise<readonly number[]>): RunMessages {
  return {
    follow: (onMessage) =>
      asUnavailable(() =>
        followFrom({
          connection,
          stream: streams.runs,
          from: "new",
          namePrefix: "live",
          onMessage: (message) => {
            const { subject, seq: sequence, data } = message;
            onMessage({ subject, sequence, bytes: data.byteLength, text: () => message.text() });
          },
        }),
      ),
    recordedUpTo: (subject) =>
      asUnavailable(async () => {
        const positions = await readPositions((await recordedRuns(connection)).stream);
        return positions[partitionOfRun(subject)] ?? 0;
      }),
    // Asks the leader: a replica that answers direct gets may lag behind what the consumer has handed out.
    findNext: (subject, sequence) =>
      asUnavailable(async () => {
        const query = { seq: sequence, next_by_subj: subject };
        const found = await connection.manager.streams.getMessage(streams.runs, query);
        return found === null
          ? undefined
          : { subject: found.subject, sequence: found.seq, bytes: found.data.byteLength, text: () => found.string() };
      }),
    kept: () =>
      asUnavailable(async () => {
        const { first_seq: first, last_seq: last } = (await connection.manager.streams.info(streams.runs)).state;
        return { first: Math.max(first, 1), last };
      }),
  };
}

async function asUnavailable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw cause instanceof HeadwaterError ? cause : new Unavailable("NATS does not answer: try again in a moment", { cause });
  }
}
