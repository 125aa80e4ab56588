import type { StoredMsg } from "@nats-io/jetstream";
import { setTimeout as sleep } from "node:timers/promises";
import { deliverSubject, redeliverySubject, retrySubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { readBatch } from "../read/read-batch.ts";
import { onceAt, publishScheduled } from "../schedules.ts";

const [dueFilter, scheduledFilter] = [deliverSubject("*", ">"), retrySubject("*", ">")];
const intervalMs = 20_000;
/** More than a few are rare. */
const maxDuePerRead = 10;
/** Scheduled deliveries read per round, which continues where the last round ended: there may be hundreds of thousands. */
const maxSchedules = 500;
const maxBytes = 4 * 1_048_576;
/** A schedule that is this late will never fire: NATS checks schedules four times a second. */
const overdueMs = 20_000;

/**
 * Finds deliveries that a killed nats-server has kept and will never hand out. It may forget that a message was removed, and then takes it
 * for acked, or for a schedule that has fired (2.15: about one message for each kill under load, all of which had been handed out before).
 * A server that becomes the leader may also leave schedules of its predecessor until the next one is stored.
 * Each is made due once more under its own id, without checking whether it was delivered: delivery is at least once, and the stream would
 * keep the message forever.
 */
export class StrandedDeliveries {
  readonly #connection: Connection;
  readonly #consumer: string;
  #scheduledFrom = 1;

  /** @param consumer the durable consumer of due deliveries */
  constructor(connection: Connection, consumer: string) {
    this.#connection = connection;
    this.#consumer = consumer;
  }

  /** @param now epoch ms @returns the number of messages made due @throws when NATS does not answer */
  async recover(now: number): Promise<number> {
    // Recovering a due message schedules it, so scheduled messages come first.
    const scheduled = await this.#recoverScheduled(now);
    return scheduled + (await this.#recoverDue());
  }

  /** Messages below the consumer's ack floor. */
  async #recoverDue(): Promise<number> {
    const { consumers, streams: stored } = this.#connection.manager;
    const { ack_floor } = await consumers.info(streams.deliveries, this.#consumer);
    for (let [from, taken] = [1, 0]; ;) {
      const { messages } = await this.#read(dueFilter, from, maxDuePerRead);
      const left = messages.filter(({ seq }) => seq <= ack_floor.stream_seq);
      for (const message of left) {
        // A lost redelivery request is simply dropped: its caller can repeat it.
        if (!message.subject.startsWith(redeliverySubject(""))) await this.#makeDue(message);
        await stored.purge(streams.deliveries, { filter: message.subject, seq: message.seq + 1 });
        from = message.seq + 1;
      }
      taken += left.length;
      if (left.length === 0 || left.length < messages.length) return taken;
    }
  }

  async #recoverScheduled(now: number): Promise<number> {
    const { messages, isLast } = await this.#read(scheduledFilter, this.#scheduledFrom, maxSchedules);
    this.#scheduledFrom = isLast ? 1 : (messages.at(-1)?.seq ?? 0) + 1;
    const late = messages.filter((message) => dueAt(message) + overdueMs < now);
    for (const message of late) await this.#makeDue(message);
    return late.length;
  }

  /** Replaces the schedule of the same delivery, so nothing of the stranded message is left. */
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

/** Looks for stranded deliveries every 20 s, until it is stopped. */
export function startRecoveringStranded(connection: Connection, consumer: string, log: StrandedLog): Stoppable {
  const stranded = new StrandedDeliveries(connection, consumer);
  const stopping = new AbortController();
  const { signal } = stopping;
  const recover = async (): Promise<void> => {
    try {
      const messages = await stranded.recover(Date.now());
      if (messages > 0) log.warn({ op: "delivery.left_behind", messages }, "NATS held deliveries back: they are made due again");
    } catch (error) {
      log.debug({ op: "delivery.left_behind", err: error }, "deliveries that NATS holds back could not be looked for");
    }
  };
  const recovering = (async () => {
    for (;;) {
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await recover();
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await recovering;
    },
  };
}

export interface StrandedLog {
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Epoch ms: the time of its schedule, else the time at which it was stored. */
const dueAt = (message: StoredMsg): number => onceAt(message) ?? message.time.getTime();
