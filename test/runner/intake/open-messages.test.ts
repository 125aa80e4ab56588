import { afterEach, describe, expect, it, vi } from "vitest";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { OpenMessages } from "../../../runner/intake/open-messages.ts";
import type { IntakeMessage } from "../../../runner/intake/ports.ts";

const opened: OpenMessages[] = [];
afterEach(() => {
  for (const open of opened.splice(0)) open.sendAcks();
});

function messages() {
  const acked: string[] = [];
  const open = new OpenMessages("default");
  opened.push(open);
  /** The n-th delivery of a message. */
  const message = (seq: number, count: number, delivery = 1, storedAt = 0): IntakeMessage => ({
    text: encodePack(Array.from({ length: count }, (_, n) => JSON.stringify({ source: `dc_${n}`, trigger: "http" }))),
    seq,
    storedAt,
    isNew: true,
    ack: () => acked.push(`${seq} of delivery ${delivery}`),
  });
  return { open, acked, message };
}

describe("OpenMessages", () => {
  it("acks a message soon after all invocations of its pack are finished, several messages together", async () => {
    const { open, acked, message } = messages();
    const [first, second] = [open.take(message(7, 2)), open.take(message(8, 1))];
    first[0]?.settle("finished");
    first[0]?.settle("finished");
    second[0]?.settle("finished");
    first[1]?.settle("finished");
    expect([acked, open.size]).toEqual([[], 0]);
    await vi.waitFor(() => expect(acked).toEqual(["8 of delivery 1", "7 of delivery 1"]), 120_000);
  });

  it("returns nothing for a message that is redelivered while it is open, and acks the last delivery", () => {
    const { open, acked, message } = messages();
    const waiting = open.take(message(7, 2));
    waiting[0]?.settle("finished");
    expect(open.take(message(7, 2, 2))).toEqual([]);
    waiting[1]?.settle("finished");
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 2"]);
  });

  it("acks a message again when it is redelivered after its ack", () => {
    const { open, acked, message } = messages();
    open.take(message(7, 1))[0]?.settle("finished");
    open.sendAcks();
    expect(open.take(message(7, 1, 2))).toEqual([]);
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 1", "7 of delivery 2"]);
  });

  it("returns only the released invocations when a message is redelivered while others of it run", () => {
    const { open, acked, message } = messages();
    const [first, second, third] = open.take(message(7, 3));
    second?.settle("released");
    third?.settle("finished");
    const again = open.take(message(7, 3, 2));
    expect(again.map(({ received }) => received.position.index)).toEqual([1]);
    first?.settle("finished");
    again[0]?.settle("finished");
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 2"]);
  });

  it("closes a message without an ack when one of its invocations was released and none runs", () => {
    const { open, acked, message } = messages();
    const [first, second] = open.take(message(7, 2));
    first?.settle("finished");
    second?.settle("released");
    open.sendAcks();
    expect([acked, open.size]).toEqual([[], 0]);
    expect(open.take(message(7, 2, 2))).toHaveLength(2);
  });

  it("treats a message of a recreated stream as new", () => {
    const { open, message } = messages();
    open.take(message(7, 1))[0]?.settle("finished");
    expect(open.take(message(7, 1, 1, 5_000))).toHaveLength(1);
  });

  it("numbers the invocations of a pack by their position in the queue of the pool", () => {
    const { open, message } = messages();
    const positions = open.take(message(7, 3)).map(({ received }) => received.position);
    expect(positions).toEqual([0, 1, 2].map((index) => ({ pool: "default", seq: 7, index, storedAt: 0 })));
  });

  it("acks a pack without invocations", () => {
    const { open, acked, message } = messages();
    open.take(message(7, 0));
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 1"]);
  });
});
