import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OwnerSlots } from "../../runner/sandbox/owner-slots.ts";

describe("places to compute in", () => {
  /** Method: random takes and releases beside a count of who holds what; whoever waits while they could have a place is a failure. */
  it("are never more than there are, nor an owner's more than its own, and none stays empty while somebody may have it", async () => {
    const step = fc.record({ takes: fc.boolean(), owner: fc.constantFrom("a", "b", "c"), pick: fc.nat() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 60 }),
        async (count, ofOwner, steps) => {
          const slots = new OwnerSlots({ slots: count, ofOwner, alone: ofOwner });
          const held: string[] = [];
          const waiting: string[] = [];
          const granted = (owner: string): void => {
            waiting.splice(waiting.indexOf(owner), 1);
            held.push(owner);
          };
          for (const { takes, owner, pick } of steps) {
            if (takes) {
              waiting.push(owner);
              const later = slots.take(owner);
              if (later === undefined) granted(owner);
              else void later.then(() => granted(owner));
            } else if (held.length > 0) {
              const [left = ""] = held.splice(pick % held.length, 1);
              slots.release(left);
            }
            await Promise.resolve();
            const of = (list: readonly string[], id: string): number => list.filter((each) => each === id).length;
            expect(held.length).toBeLessThanOrEqual(count);
            for (const id of ["a", "b", "c"]) {
              expect(of(held, id)).toBeLessThanOrEqual(ofOwner);
              if (held.length < count && of(held, id) < ofOwner) expect(of(waiting, id)).toBe(0);
            }
          }
        },
      ),
    );
  });

  it("go to owners in turns, however many of one wait", async () => {
    const slots = new OwnerSlots({ slots: 1, ofOwner: 1, alone: 1 });
    const order: string[] = [];
    void slots.take("flood");
    const all = Array.from({ length: 4 }, () => slots.take("flood")?.then(() => order.push("flood")));
    all.push(slots.take("other")?.then(() => order.push("other")));
    for (const owner of ["flood", "other", "flood"]) {
      slots.release(owner);
      await Promise.resolve();
    }
    expect(order.slice(0, 2)).toContain("other");
  });

  it("go to one who came while another's turn lasted, before that one's next", async () => {
    const slots = new OwnerSlots({ slots: 1, ofOwner: 1, alone: 1 });
    const order: string[] = [];
    void slots.take("flood");
    void slots.take("flood")?.then(() => order.push("flood"));
    void slots.take("other")?.then(() => order.push("other"));
    slots.release("flood");
    await Promise.resolve();
    expect(order).toEqual(["other"]);
  });

  it("are more for an owner who is alone, in order, until somebody else comes", async () => {
    let now = 0;
    const slots = new OwnerSlots({ slots: 8, ofOwner: 1, alone: 3 }, () => now);
    const began: string[] = [];
    const take = (owner: string, name: string): void => {
      const later = slots.take(owner);
      if (later === undefined) began.push(name);
      else void later.then(() => began.push(name));
    };
    for (const name of ["a1", "a2", "a3", "a4"]) take("a", name);
    expect(began).toEqual(["a1", "a2", "a3"]);
    take("b", "b1");
    for (let released = 0; released < 2; released++) slots.release("a");
    await Promise.resolve();
    expect(began).toEqual(["a1", "a2", "a3", "b1"]);
    slots.release("b");
    now = 60_000; // The neighbour is gone for long.
    take("a", "a5");
    await Promise.resolve();
    expect(began).toEqual(["a1", "a2", "a3", "b1", "a4", "a5"]);
  });
});
