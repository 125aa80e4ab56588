import { z } from "zod";
import type { OrderedQueue, OrderedQueues } from "../../../delivery/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { orderedQueueSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

const timeoutMs = 3_000;
const request = z.object({ webhook: z.string(), delivery: z.string() });
const reply = z.looseObject({ error: z.string().optional(), isAttempted: z.boolean().optional() });

/** What delivery replicas ask of the one that posts to ordered webhooks. @param isCurrent whether this one may answer */
export function orderedQueuesOf(connection: Pick<Connection, "nats">, isCurrent: () => boolean): OrderedQueues {
  const { nats } = connection;
  const ask = async (kind: "append" | "attempt", webhook: string, delivery: string): Promise<z.infer<typeof reply>> => {
    const subject = orderedQueueSubject(kind);
    const asked = nats.request(subject, JSON.stringify({ webhook, delivery }), { timeout: timeoutMs });
    const message = await asked.catch((cause: unknown) => {
      throw new Unavailable(`no delivery replica answers on '${subject}' for the ordered webhook ${webhook}: trying again`, { cause });
    });
    const answered = reply.parse(message.json());
    if (answered.error !== undefined)
      throw new Unavailable(`the queue of the ordered webhook ${webhook} cannot be used: ${answered.error}`);
    return answered;
  };
  return {
    serve: async (queue) => {
      const act = actsOf(queue);
      const subscriptions = (["append", "attempt"] as const).map((kind) =>
        nats.subscribe(orderedQueueSubject(kind), {
          callback: (error, message) => {
            // What was asked while this process stood still was asked of another one since.
            if (error !== null || !isCurrent()) return;
            const { webhook, delivery } = request.parse(message.json()); // Only this role may ask.
            act[kind](webhook, delivery).then(
              (answer) => message.respond(JSON.stringify(answer)),
              (failure: unknown) =>
                message.respond(JSON.stringify({ error: failure instanceof Error ? failure.message : String(failure) })),
            );
          },
        }),
      );
      await nats.flush();
      return {
        stop: async () => {
          await Promise.all(subscriptions.map((subscription) => subscription.drain().catch(() => undefined)));
        },
      };
    },
    remote: {
      append: async (webhook, delivery) => void (await ask("append", webhook, delivery)),
      attemptNow: async (webhook, delivery) => (await ask("attempt", webhook, delivery)).isAttempted === true,
    },
  };
}

const actsOf = (queue: OrderedQueue) => ({
  append: async (webhook: string, delivery: string): Promise<object> => {
    await queue.append(webhook, delivery);
    return {};
  },
  attempt: async (webhook: string, delivery: string): Promise<object> => ({ isAttempted: await queue.attemptNow(webhook, delivery) }),
});
