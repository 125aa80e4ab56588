import type { StoredMsg } from "@nats-io/jetstream";
import type { QueueHead, WebhookBacklog } from "../../../api/webhooks/ports.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";
import { HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { deliverSubject, orderedSubject, retrySubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { onceAt } from "../schedules.ts";
import { countOrdered } from "./delivery-backlog.ts";

/** With more schedules than these the earliest is not searched: it would require reading their events. */
const maxRead = { messages: 256, bytes: 1_024 * 1_024 };
/** An offset after the last subject: NATS then returns their number without their names. */
const offsetAfterLast = 2 ** 31 - 1;

/**
 * Reads the backlog of a webhook from the streams, with a few requests to NATS and without the delivery role; of ordered queues the
 * first message is read.
 *
 * @throws Unavailable
 */
export async function readWebhookBacklog(connection: Connection, webhook: string): Promise<WebhookBacklog> {
  try {
    const [due, scheduled, queues] = await Promise.all([
      countSubjects(connection, deliverSubject(webhook, ">")),
      countSubjects(connection, retrySubject(webhook, ">")),
      readQueues(connection, webhook),
    ]);
    return { due, scheduled, nextAt: await firstOf(connection, webhook, scheduled), ...queues };
  } catch (cause) {
    if (cause instanceof HeadwaterError) throw cause;
    throw new Unavailable("the backlog of the webhook cannot be read: NATS does not answer, try again in a moment", {
      cause,
    });
  }
}

/** Each delivery has a subject of its own. */
async function countSubjects({ nats, apiPrefix }: Connection, filter: string): Promise<number> {
  const request = JSON.stringify({ subjects_filter: filter, offset: offsetAfterLast });
  const answer = await nats.request(`${apiPrefix}.STREAM.INFO.${streams.deliveries}`, request, { timeout: 5_000 });
  const { total = 0, error } = answer.json<{ readonly total?: number; readonly error?: { readonly description: string } }>();
  if (error !== undefined) throw new Unavailable(`NATS cannot count the backlog: ${error.description}`);
  return total;
}

async function firstOf({ manager }: Connection, webhook: string, scheduled: number): Promise<number | undefined> {
  if (scheduled === 0 || scheduled > maxRead.messages) return undefined;
  const times: number[] = [];
  let left = 0;
  try {
    const query = { multi_last: [retrySubject(webhook, ">")], batch: maxRead.messages, max_bytes: maxRead.bytes };
    for await (const message of await manager.direct.getLastMessagesFor(streams.deliveries, query)) {
      const at = onceAt(message);
      if (at !== undefined) times.push(at);
      left = message.pending;
    }
  } catch (error) {
    if (!isMessageNotFound(error)) throw error; // They have become due in the meantime.
  }
  return left > 0 || times.length === 0 ? undefined : Math.min(...times);
}

/** The queues of all sources. Their head is the delivery that was stored first. */
async function readQueues(connection: Connection, webhook: string): Promise<Pick<WebhookBacklog, "queued" | "head">> {
  const { manager } = connection;
  const filter = orderedSubject("*", webhook, "*", "*");
  const { state } = await manager.streams.info(streams.deliveries, { subjects_filter: filter });
  const { ordered: queued } = countOrdered(state.subjects);
  const first = queued === 0 ? undefined : await found(manager.direct.getMessage(streams.deliveries, { seq: 1, next_by_subj: filter }));
  if (first === undefined) return { queued, head: undefined };
  const batch = first.json<readonly Delivery[]>(); // Only the delivery role writes to the stream.
  return { queued, head: await headOf(connection, batch, first.time.getTime()) };
}

/** The delivery of a batch that waits for its next attempt; else the first one. @param since epoch ms */
async function headOf({ manager }: Connection, batch: readonly Delivery[], since: number): Promise<QueueHead | undefined> {
  const subjects = batch.map(({ listener, id }) => retrySubject(listener, id));
  const scheduled = await lastOf(manager.direct.getLastMessagesFor(streams.deliveries, { multi_last: subjects, batch: batch.length }));
  const delivery = scheduled?.json<Delivery>() ?? batch[0];
  if (delivery === undefined) return undefined;
  const { id, subscription, event, attempt } = delivery;
  return {
    delivery: id,
    subscription,
    source: event.source,
    event: event.eventId,
    channel: event.channel,
    attempts: attempt - 1,
    since,
    nextAt: scheduled === undefined ? undefined : onceAt(scheduled),
  };
}

async function lastOf(requested: Promise<AsyncIterable<StoredMsg>>): Promise<StoredMsg | undefined> {
  let last: StoredMsg | undefined;
  try {
    for await (const message of await requested) last = message;
  } catch (error) {
    withoutMessage(error);
  }
  return last;
}

const found = async <Message>(requested: Promise<Message | null>): Promise<Message | undefined> =>
  (await requested.catch(withoutMessage)) ?? undefined;

function withoutMessage(error: unknown): undefined {
  if (!isMessageNotFound(error)) throw error;
}
