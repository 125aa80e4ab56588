import { expect, test } from "vitest";
import { deliverSubject, retrySubject, streams } from "../../../domain/subjects.ts";
import { StrandedDeliveries } from "../../../platform/jetstream/deliveries/stranded-deliveries.ts";
import { findScheduled, readDue } from "../../../platform/jetstream/deliveries/due-deliveries.ts";
import { publishScheduled } from "../../../platform/jetstream/schedules.ts";
import { withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

/** The consumer's name in the delivery role. */
const consumer = "delivery";
const hourMs = 3_600_000;

const nats = withJetStream();
const due: string[] = [];
const read = () =>
  readDue(nats.connection, consumer, {
    onDue: (text, _seq, ack) => {
      due.push(text);
      ack();
    },
    onEvent: (_text, _seq, ack) => ack(),
    onRequest: (_request, ack) => ack(),
  });
const stored = async (): Promise<number> => (await nats.connection.manager.streams.info(streams.deliveries)).state.messages;

test("messages that a killed server would never deliver are made due again, and all others are left alone", async () => {
  const { publisher } = nats.connection;
  await (await read()).stop();
  for (const id of ["passed.sub_1", "next.sub_1"]) await publisher.publish(deliverSubject("wh_1", id), id);
  // The server's state after it has forgotten the first removal: the consumer is past the message.
  await nats.connection.nats.request(`$JS.API.CONSUMER.RESET.${streams.deliveries}.${consumer}`, JSON.stringify({ seq: 2 }));
  // To the server, a schedule that it has lost is an ordinary message.
  await publisher.publish(retrySubject("wh_1", "forgotten.sub_1"), "forgotten.sub_1");
  const later = { subject: retrySubject("wh_1", "later.sub_1"), target: deliverSubject("wh_1", "later.sub_1") };
  await publishScheduled(publisher, { ...later, schedule: { kind: "at", atMs: Date.now() + hourMs }, body: "later.sub_1" });

  const left = new StrandedDeliveries(nats.connection, consumer);
  expect(await left.recover(Date.now() + 120_000)).toBe(2);
  const reading = await read();
  await until(() => due.length === 3, "all that is due");
  expect(due.toSorted()).toEqual(["forgotten.sub_1", "next.sub_1", "passed.sub_1"]);
  await until(async () => (await stored()) === 1, "only the one that is scheduled is left");
  expect(await findScheduled(nats.connection, "wh_1", "later.sub_1")).toBe("later.sub_1");
  expect(await left.recover(Date.now() + 120_000)).toBe(0);
  await reading.stop();
});

test("a due delivery whose attempt outlasts the ack wait is handed out once, also after NATS was killed", async () => {
  const handedOut: string[] = [];
  const acks: (() => void)[] = [];
  const ackWaitMs = 1_000;
  const before = await stored();
  const reading = await readDue(
    nats.connection,
    consumer,
    {
      onDue: (text, _seq, ack) => {
        handedOut.push(text);
        acks.push(ack);
      },
      onEvent: (_text, _seq, ack) => ack(),
      onRequest: (_request, ack) => ack(),
    },
    ackWaitMs,
  );
  await nats.connection.publisher.publish(deliverSubject("wh_1", "slow.sub_1"), "slow");
  await until(() => handedOut.length === 1, "it is handed out");
  await new Promise((resolve) => setTimeout(resolve, 3 * ackWaitMs));
  await nats.server.crash();
  await new Promise((resolve) => setTimeout(resolve, 3 * ackWaitMs));
  expect(handedOut).toEqual(["slow"]);
  for (const ack of acks) ack();
  await until(async () => (await stored().catch(() => undefined)) === before, "its ack counts");
  await reading.stop();
});
