import { z } from "zod";
import type { FormerBatch, FormerQueues } from "../../../delivery/ordered/ports.ts";
import { former } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound, isMissing } from "../connection/errors.ts";

const batch = z.object({ deliveries: z.array(z.looseObject({ id: z.string(), attempt: z.number() })) });
/** How far a queue has come: `done` deliveries of the message with sequence `seq`, and all messages before it. */
const state = z.object({
  seq: z.number(),
  done: z.number(),
  failing: z.object({ delivery: z.string(), attempt: z.number() }).optional(),
});

const firstOfAll = { seq: 1, next_by_subj: former.lineSubject("*") };

/** Reads the stream ORDERED of an earlier version. A new installation does not have it. */
export function createFormerQueues(connection: Connection): FormerQueues {
  const { manager } = connection;
  const states = new Bucket(connection, former.lines, (json) => state.parse(json));
  const first = async () => {
    try {
      return await manager.streams.getMessage(former.ordered, firstOfAll);
    } catch (error) {
      if (isMessageNotFound(error) || isMissing(error)) return null;
      throw error;
    }
  };
  return {
    next: async (): Promise<FormerBatch | undefined> => {
      const message = await first();
      if (message === null) return undefined;
      const known = await states.get(message.subject.slice(former.lineSubject("").length));
      const done = known === undefined || message.seq > known.seq ? 0 : message.seq < known.seq ? Number.POSITIVE_INFINITY : known.done;
      const left = batch.parse(message.json()).deliveries.slice(done);
      const attemptOf = ({ id, attempt }: (typeof left)[number]): number =>
        known?.failing?.delivery === id ? known.failing.attempt : attempt;
      return {
        deliveries: left.map((delivery) => JSON.stringify({ ...delivery, attempt: attemptOf(delivery) })),
        remove: async () => {
          await manager.streams.deleteMessage(former.ordered, message.seq, false);
        },
      };
    },
  };
}
