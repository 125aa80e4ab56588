import fc from "fast-check";
import { expect, it } from "vitest";
import { appendInTurns } from "../../runner/append-turns.ts";
import type { Histories } from "../../runner/ports.ts";

interface Sent {
  readonly owner: string;
  readonly bytes: number;
  end(fails: boolean): void;
}

/** Histories that store when they are told to. */
function heldHistories(): { readonly histories: Histories; readonly underWay: Set<Sent> } {
  const underWay = new Set<Sent>();
  const append: Histories["append"] = (owner, _source, commit) =>
    new Promise((resolve, reject) => {
      const sent: Sent = {
        owner,
        bytes: commit.length,
        end: (fails) => {
          underWay.delete(sent);
          if (fails) reject(new Error("lost"));
          else resolve({ outcome: "stored", sequence: 1 });
        },
      };
      underWay.add(sent);
    });
  return { underWay, histories: { append, last: async () => ({ commit: undefined, sequence: 0 }) } };
}

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));
const commits = fc.array(fc.record({ owner: fc.constantFrom("a", "b"), bytes: fc.integer({ min: 1, max: 150 }), fails: fc.boolean() }), {
  maxLength: 30,
});

it("keeps each owner's commits under way within the limit, one that is larger alone, and all of them are sent", async () => {
  await fc.assert(
    fc.asyncProperty(commits, fc.infiniteStream(fc.nat()), async (wanted, picks) => {
      const { histories, underWay } = heldHistories();
      const turns = appendInTurns(histories, 100);
      const ended = wanted.map(({ owner, bytes }, n) =>
        turns.append(owner, `dc_${n}`, "x".repeat(bytes), 0).then(
          () => "stored",
          () => "lost",
        ),
      );
      const fates = wanted.map(({ fails }) => (fails ? "lost" : "stored"));
      for (let left = wanted.length; left > 0; left--) {
        await turnOfTheLoop();
        for (const owner of ["a", "b"]) {
          const mine = [...underWay].filter((sent) => sent.owner === owner);
          expect(mine.length <= 1 || mine.reduce((sum, { bytes }) => sum + bytes, 0) <= 100).toBe(true);
        }
        const all = [...underWay];
        const next = all[(picks.next().value ?? 0) % all.length];
        expect(next).toBeDefined();
        next?.end(fates[wanted.length - left] === "lost");
      }
      expect((await Promise.all(ended)).toSorted()).toEqual(fates.toSorted());
    }),
  );
});

it("lets one owner wait for itself alone", async () => {
  const { histories, underWay } = heldHistories();
  const turns = appendInTurns(histories, 100);
  void turns.append("flood", "dc_1", "x".repeat(90), 0);
  void turns.append("flood", "dc_2", "x".repeat(90), 0);
  void turns.append("neighbour", "dc_3", "x", 0);
  await turnOfTheLoop();
  expect([...underWay].map(({ owner, bytes }) => [owner, bytes])).toEqual([
    ["flood", 90],
    ["neighbour", 1],
  ]);
});
