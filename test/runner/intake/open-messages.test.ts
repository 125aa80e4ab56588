import { afterEach, describe, expect, it, vi } from "vitest";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { OpenMessages } from "../../../runner/intake/open-messages.ts";
import type { IntakeMessage } from "../../../runner/ports.ts";

const opened: OpenMessages[] = [];
afterEach(() => {
  for (const open of opened.splice(0)) open.sendAcks();
});

function messages() {
  const acked: string[] = [];
  const open = new OpenMessages("default");
  opened.push(open);
  /** As delivered for the n-th time. */
  const message = (seq: number, count: number, delivery = 1, storedAt = 0): IntakeMessage => ({
    text: encodePack(Array.from({ length: count }, (_, n) => JSON.stringify({ source: `dc_${n}`, trigger: "http" }))),
    seq,
    storedAt,
    ack: () => acked.push(`${seq} of delivery ${delivery}`),
  });
  return { open, acked, message };
}

describe("OpenMessages", () => {
  it("acks a message soon after each invocation of its pack is done, and several together", async () => {
    const { open, acked, message } = messages();
    const [first, second] = [open.take(message(7, 2)), open.take(message(8, 1))];
    first[0]?.settle("done");
    first[0]?.settle("done");
    second[0]?.settle("done");
    first[1]?.settle("done");
    expect([acked, open.size]).toEqual([[], 0]);
    await vi.waitFor(() => expect(acked).toEqual(["8 of delivery 1", "7 of delivery 1"]), 30_000);
  });

  it("hands out nothing of a message that is delivered again while it is here, and acks its last delivery", () => {
    const { open, acked, message } = messages();
    const waiting = open.take(message(7, 2));
    waiting[0]?.settle("done");
    expect(open.take(message(7, 2, 2))).toEqual([]);
    waiting[1]?.settle("done");
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 2"]);
  });

  it("acks a message again that is delivered again after its ack", () => {
    const { open, acked, message } = messages();
    open.take(message(7, 1))[0]?.settle("done");
    open.sendAcks();
    expect(open.take(message(7, 1, 2))).toEqual([]);
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 1", "7 of delivery 2"]);
  });

  it("hands out the invocations that were left, and only these, when the message is delivered again while others of it run", () => {
    const { open, acked, message } = messages();
    const [first, second, third] = open.take(message(7, 3));
    second?.settle("left");
    third?.settle("done");
    const again = open.take(message(7, 3, 2));
    expect(again.map(({ received }) => received.position.index)).toEqual([1]);
    first?.settle("done");
    again[0]?.settle("done");
    open.sendAcks();
    expect(acked).toEqual(["7 of delivery 2"]);
  });

  it("forgets a message of which something was left once nothing of it runs", () => {
    const { open, acked, message } = messages();
    const [first, second] = open.take(message(7, 2));
    first?.settle("done");
    second?.settle("left");
    open.sendAcks();
    expect([acked, open.size]).toEqual([[], 0]);
    expect(open.take(message(7, 2, 2))).toHaveLength(2);
  });

  it("takes a message of a recreated stream for a new one", () => {
    const { open, message } = messages();
    open.take(message(7, 1))[0]?.settle("done");
    expect(open.take(message(7, 1, 1, 5_000))).toHaveLength(1);
  });

  it("numbers the invocations of a pack by their position in the pool's queue", () => {
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
