import { z } from "zod";
import type { OrderedQueueAccess, OrderedRequests } from "../../../delivery/ordered/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { orderedQueueSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { request, serve, type Service } from "./request-reply.ts";

const queueRequest = z.object({ webhook: z.string(), delivery: z.string() });
const attemptReply = z.object({ isAttempted: z.boolean() });

const notAnswering = { message: "no delivery replica serves ordered webhooks: trying again" };
const service: Service = {
  timeoutMs: 3_000,
  noReply: { absent: notAnswering, late: notAnswering, unreachable: notAnswering },
};

/**
 * Requests among delivery replicas, to the one that posts to ordered webhooks.
 * @param isCurrent whether this replica may serve: a replica that stood still may have been replaced, and its requests repeated elsewhere
 */
export function createOrderedQueueRequests({ nats }: Pick<Connection, "nats">, isCurrent: () => boolean): OrderedRequests {
  const send = async (kind: "append" | "attempt", webhook: string, delivery: string): Promise<unknown> =>
    request(nats, orderedQueueSubject(kind), service, { webhook, delivery }).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Unavailable(`the queue of the ordered webhook ${webhook} cannot be used: ${reason}`, { cause });
    });
  return {
    serve: async (queue) => {
      const handlers = queueHandlers(queue);
      const serving = await Promise.all(
        (["append", "attempt"] as const).map((kind) =>
          serve(nats, orderedQueueSubject(kind), service, (body) => handlers[kind](queueRequest.parse(body)), isCurrent),
        ),
      );
      return {
        stop: async () => {
          await Promise.all(serving.map((each) => each.stop()));
        },
      };
    },
    remote: {
      append: async (webhook, delivery) => void (await send("append", webhook, delivery)),
      attemptNow: async (webhook, delivery) => attemptReply.parse(await send("attempt", webhook, delivery)).isAttempted,
    },
  };
}

type QueueRequest = z.infer<typeof queueRequest>;

const queueHandlers = (queue: OrderedQueueAccess) => ({
  append: async ({ webhook, delivery }: QueueRequest): Promise<object> => {
    await queue.append(webhook, delivery);
    return {};
  },
  attempt: async ({ webhook, delivery }: QueueRequest): Promise<object> => ({ isAttempted: await queue.attemptNow(webhook, delivery) }),
});
