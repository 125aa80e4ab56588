import { z } from "zod";
import type { OrderedAccess, OrderedRequests } from "../../../delivery/ordered/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { orderedQueueSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const body = z.object({ delivery: z.string() });
const kinds = ["append", "attempt"] as const;

const notAnswering = { message: "no delivery replica serves the partition: trying again" };
const noReply = { absent: notAnswering, late: notAnswering, unreachable: notAnswering };
/** An attempt is answered once it has ended. */
const services: Readonly<Record<(typeof kinds)[number], Service>> = {
  append: { timeoutMs: 5_000, noReply },
  attempt: { timeoutMs: 30_000, noReply },
};

/**
 * Requests among delivery replicas, to the one that holds a partition.
 * @param isCurrent whether this replica may serve: a replica that stood still may have been replaced, and its requests repeated elsewhere
 */
export function createOrderedQueueRequests({ nats }: Pick<Connection, "nats">, isCurrent: () => boolean): OrderedRequests {
  return {
    serve: async (partition, access) => {
      const serving: Stoppable[] = [];
      const stop = async (): Promise<void> => {
        await Promise.all(serving.map((each) => each.stop()));
      };
      try {
        for (const kind of kinds) {
          const handle = async (received: unknown): Promise<object> => {
            await access[kind](body.parse(received).delivery);
            return {};
          };
          serving.push(await serve(nats, orderedQueueSubject(kind, partition), services[kind], handle, isCurrent));
        }
      } catch (error) {
        await stop();
        throw error;
      }
      return { stop };
    },
    remote: (partition) => {
      const send = async (kind: keyof OrderedAccess, delivery: string): Promise<void> => {
        await request(nats, orderedQueueSubject(kind, partition), services[kind], { delivery }).catch((cause: unknown) => {
          const reason = cause instanceof Error ? cause.message : String(cause);
          throw new Unavailable(`the ordered queues of partition ${partition} cannot be used: ${reason}`, { cause });
        });
      };
      return { append: (delivery) => send("append", delivery), attempt: (delivery) => send("attempt", delivery) };
    },
  };
}
