import type { QueueHead, WebhookBacklog } from "../../../api/webhooks/ports.ts";
import type { Delivery } from "../../../delivery/routing/delivery.ts";
import { HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { nextIndex, type DeliveryBatch, type QueueState } from "../../../domain/delivery/ordered-queue.ts";
import { buckets, deliverSubject, lineSubject, retrySubject, streams } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { onceAt } from "../schedules.ts";

/** With more schedules than these the earliest is not searched: it would require reading their events. */
const maxRead = { messages: 256, bytes: 1_024 * 1_024 };
/** An offset after the last subject: NATS then returns their number without their names. */
const offsetAfterLast = 2 ** 31 - 1;

/**
 * Reads the backlog of a webhook from the streams, with a few requests to NATS and without the delivery role; of a line its head and its end are read.
 *
 * @throws Unavailable
 */
export async function readWebhookBacklog(connection: Connection, webhook: string): Promise<WebhookBacklog> {
  try {
    const [due, scheduled, line] = await Promise.all([
      countSubjects(connection, deliverSubject(webhook, ">")),
      countSubjects(connection, retrySubject(webhook, ">")),
      readLine(connection, webhook),
    ]);
    return { due, scheduled, nextAt: await firstOf(connection, webhook, scheduled), ...line };
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

interface Found {
  readonly seq: number;
  /** Epoch ms. */
  readonly storedAt: number;
  readonly pack: DeliveryBatch<Delivery>;
}

async function readLine(connection: Connection, webhook: string): Promise<Pick<WebhookBacklog, "queued" | "head">> {
  const states = new Bucket<QueueState>(connection, buckets.lines, (json) => json as QueueState); // Only the delivery role writes entries.
  const [state, last] = await Promise.all([states.get(webhook), findPack(connection, { last_by_subj: lineSubject(webhook) })]);
  const queued = Math.max(0, (last?.pack.number ?? 0) - (state?.number ?? 0));
  if (queued === 0) return { queued: 0, head: undefined };
  // A recreated stream counts from 1 again: a stored sequence of the former stream is void.
  const from = (seq: number) => findPack(connection, { seq, next_by_subj: lineSubject(webhook) });
  const first = (state === undefined ? undefined : await from(state.seq)) ?? (await from(1));
  return { queued, head: first === undefined ? undefined : headOf(first, state) };
}

function headOf({ seq, storedAt, pack }: Found, state: QueueState | undefined): QueueHead | undefined {
  const delivery = pack.deliveries[state === undefined ? 0 : nextIndex(state, seq)];
  if (delivery === undefined) return undefined; // It was finished between the two reads.
  const { id, subscription, event } = delivery;
  const failing = state?.failing?.delivery === id ? state.failing : undefined;
  return {
    delivery: id,
    subscription,
    source: event.source,
    event: event.eventId,
    channel: event.channel,
    attempts: (failing?.attempt ?? delivery.attempt) - 1,
    since: storedAt,
    nextAt: failing?.atMs,
  };
}

type Query = { readonly last_by_subj: string } | { readonly seq: number; readonly next_by_subj: string };

async function findPack({ manager }: Connection, query: Query): Promise<Found | undefined> {
  try {
    const message = await manager.direct.getMessage(streams.ordered, query);
    // Only the delivery role writes to the stream.
    return message === null
      ? undefined
      : { seq: message.seq, storedAt: message.time.getTime(), pack: message.json() as DeliveryBatch<Delivery> };
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}
