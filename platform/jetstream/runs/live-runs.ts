import type { RunMessages } from "../../../api/streams/ports.ts";
import { HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { partitionOfRun, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { followFrom } from "../read/follow.ts";
import { identityOf } from "../streams/stream-identity.ts";

/**
 * RUNS for those who follow sources live.
 * @param readPositions how far each partition of a stream of that name has been recorded
 */
export function readRunMessages(connection: Connection, readPositions: (stream: string) => Promise<readonly number[]>): RunMessages {
  return {
    follow: (onMessage) =>
      orUnavailable(() =>
        followFrom({
          connection,
          stream: streams.runs,
          from: "new",
          namePrefix: "live",
          onMessage: (message) => onMessage({ subject: message.subject, sequence: message.seq, text: () => message.text() }),
        }),
      ),
    // Named as the recorder names it: a stream that was made anew counts from 1 again.
    recordedUpTo: (subject) =>
      orUnavailable(async () => {
        const positions = await readPositions(`${streams.runs}@${identityOf(await connection.manager.streams.info(streams.runs))}`);
        return positions[partitionOfRun(subject)] ?? 0;
      }),
    // Asks the leader: a replica that answers direct gets may lag behind what the consumer has handed out.
    findNext: (subject, sequence) =>
      orUnavailable(async () => {
        const query = { seq: sequence, next_by_subj: subject };
        const found = await connection.manager.streams.getMessage(streams.runs, query);
        return found === null ? undefined : { subject: found.subject, sequence: found.seq, text: () => found.string() };
      }),
  };
}

async function orUnavailable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw cause instanceof HeadwaterError ? cause : new Unavailable("the message server does not answer: try again in a moment", { cause });
  }
}
