import type { StoredMsg } from "@nats-io/jetstream";
import { setTimeout as sleep } from "node:timers/promises";
import { deliverSubject, redeliverySubject, retrySubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { readBatch } from "../read/read-batch.ts";
import { onceAt, publishScheduled } from "../write/schedules.ts";

const [dueFilter, scheduledFilter] = [deliverSubject("*", ">"), retrySubject("*", ">")];
const lookEveryMs = 60_000;
/** Of scheduled deliveries so many are looked at in one go, from where the last one ended: there may be hundreds of thousands. */
const maxSchedules = 500;
const maxBytes = 4 * 1_048_576;
/** A schedule that is this late will not fire: the server looks four times a second. */
const overdueMs = 60_000;

/**
 * What a nats-server that was killed has kept of deliveries and will never hand out: it may forget that a message was removed, and then
 * takes it for acked, or for a schedule that has fired (2.15, about one message for each kill under load; all of which had
 * been handed out before). Each is made due once more, under its own id, in place of looking whether it was done: at least once is what was promised, and the
 * stream would keep it for ever.
 */
export class StrandedDeliveries {
  readonly #connection: Connection;
  readonly #consumer: string;
  #scheduledFrom = 1;

  /** @param consumer of due deliveries */
  constructor(connection: Connection, consumer: string) {
    this.#connection = connection;
    this.#consumer = consumer;
  }

  /** @param now epoch ms @returns how many messages it found @throws when the server does not answer */
  async takeUp(now: number): Promise<number> {
    // What is taken up of those that are due is scheduled, so those come first.
    const scheduled = await this.#takeUpScheduled(now);
    return scheduled + (await this.#takeUpDue());
  }

  /** Those that stand before all that is still to be acked. */
  async #takeUpDue(): Promise<number> {
    const { consumers, streams: stored } = this.#connection.manager;
    const { ack_floor } = await consumers.info(streams.deliveries, this.#consumer);
    for (let [from, taken] = [1, 0]; ;) {
      // More than a few are rare.
      const { messages } = await this.#read(dueFilter, from, 10);
      const left = messages.filter(({ seq }) => seq <= ack_floor.stream_seq);
      for (const message of left) {
        // What asks for deliveries again may be asked again.
        if (!message.subject.startsWith(redeliverySubject(""))) await this.#makeDue(message);
        await stored.purge(streams.deliveries, { filter: message.subject, seq: message.seq + 1 });
        from = message.seq + 1;
      }
      taken += left.length;
      if (left.length === 0 || left.length < messages.length) return taken;
    }
  }

  async #takeUpScheduled(now: number): Promise<number> {
    const { messages, isLast } = await this.#read(scheduledFilter, this.#scheduledFrom, maxSchedules);
    this.#scheduledFrom = isLast ? 1 : (messages.at(-1)?.seq ?? 0) + 1;
    const late = messages.filter((message) => dueAt(message) + overdueMs < now);
    for (const message of late) await this.#makeDue(message);
    return late.length;
  }

  /** In place of what is scheduled for the same delivery: after it, nothing of the message is left. */
  async #makeDue(message: StoredMsg): Promise<void> {
    const { subject, seq } = message;
    const [, webhook = "", ...delivery] = subject.split(".");
    const id = delivery.join(".");
    await publishScheduled(this.#connection.publisher, {
      subject: retrySubject(webhook, id),
      target: deliverSubject(webhook, id),
      schedule: { kind: "at", atMs: dueAt(message) },
      body: message.string(),
      messageId: `left.${seq}`,
    });
  }

  #read(filter: string, seq: number, messages: number): ReturnType<typeof readBatch> {
    return readBatch(this.#connection, streams.deliveries, { seq, filter, messages, bytes: maxBytes });
  }
}

/** Looks once a minute, until it is stopped. @param found is told how many there were, if any; `failed` of a look that could not be ended */
export function startRecoveringStranded(
  connection: Connection,
  consumer: string,
  { found, failed }: { readonly found: (messages: number) => void; readonly failed: (error: unknown) => void },
): Stoppable {
  const left = new StrandedDeliveries(connection, consumer);
  const stopping = new AbortController();
  const { signal } = stopping;
  const looking = (async () => {
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await left.takeUp(Date.now()).then((messages) => messages > 0 && found(messages), failed);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}

/** Epoch ms: as its schedule says, else when it was stored. */
const dueAt = (message: StoredMsg): number => onceAt(message) ?? message.time.getTime();
