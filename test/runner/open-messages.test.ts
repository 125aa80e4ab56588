import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { encodePack } from "../../domain/invocation.ts";
import { OpenMessages } from "../../runner/open-messages.ts";

const opened: OpenMessages[] = [];
afterEach(() => {
  for (const open of opened.splice(0)) open.stop();
});

function take(count: number) {
  const told: string[] = [];
  const ends: string[] = [];
  const delays: number[] = [];
  const open = new OpenMessages((end, seq, sources) => ends.push(`${end} ${seq} ${[...sources].join(" ")}`));
  opened.push(open);
  const text = encodePack(Array.from({ length: count }, (_, n) => JSON.stringify({ source: `dc_${n}`, trigger: "http" })));
  const message = {
    text,
    seq: 7,
    storedAt: 0,
    ack: () => told.push("ack"),
    postpone: (ms: number) => {
      delays.push(ms);
      told.push(`postpone ${ms > 0}`);
    },
    working: () => told.push("working"),
  };
  return { open, told, ends, delays, message, waiting: open.take(message) };
}

describe("OpenMessages", () => {
  /** Method: packs settled in any order, some twice; the oracle is "acked once when all are done, postponed once when one is not". */
  it("acks a message once, when each invocation of its pack is done", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("done" as const, "later" as const), { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (dispositions, choices) => {
          const { told, waiting, open } = take(dispositions.length);
          const left = waiting.map((entry, n) => ({ entry, disposition: dispositions[n] ?? "done" }));
          while (left.length > 0) {
            expect(told).toEqual([]);
            const [one] = left.splice((choices.next().value ?? 0) % left.length, 1);
            one?.entry.settle(one.disposition);
            one?.entry.settle("later");
          }
          expect(open.size).toBe(0);
          open.stop();
          expect(told).toEqual([dispositions.includes("later") ? "postpone true" : "ack"]);
        },
      ),
    );
  });

  it("acks together, soon, what is done", async () => {
    const { open, waiting, told, message } = take(1);
    const second = open.take({ ...message, seq: 8, ack: () => told.push("ack of the second") });
    for (const entry of [...waiting, ...second]) entry.settle("done");
    expect(told).toEqual([]);
    await vi.waitFor(() => expect(told).not.toEqual([]), 30_000);
    expect(told).toEqual(["ack", "ack of the second"]);
  });

  it("has an invocation's number until its message is settled as often as it was handed out, and tells how that ended", () => {
    const { open, ends, message, waiting } = take(2);
    const again = open.take(message);
    for (const entry of waiting) entry.settle("done");
    again[0]?.settle("done");
    expect([open.isOpen(7), ends]).toEqual([true, ["ack 7 dc_0 dc_1"]]);
    again[1]?.settle("later");
    expect(ends).toEqual(["ack 7 dc_0 dc_1", "postpone 7 dc_0 dc_1"]);
    // What is done of it must be known when it comes again.
    expect(open.isOpen(7)).toBe(true);
    for (const entry of open.take(message)) entry.settle("done");
    expect(open.isOpen(7)).toBe(false);
  });

  it("numbers the invocations of a pack by their place", () => {
    expect(take(3).waiting.map(({ received }) => received.number)).toEqual([0, 1, 2].map((index) => ({ seq: 7, index })));
  });

  it("acks a pack without invocations", () => {
    const { open, told } = take(0);
    open.stop();
    expect(told).toEqual(["ack"]);
  });
});
