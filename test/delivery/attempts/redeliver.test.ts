import { expect, it } from "vitest";
import { redeliver, type RedeliverParts, type RedeliverPorts } from "../../../delivery/attempts/redeliver.ts";
import type { StoredDeadLetter } from "../../../delivery/record/dead-letter.ts";

const webhook = "wh_1";
const letterOf = (delivery: string): StoredDeadLetter =>
  ({ id: `dl_${delivery}`, delivery, webhook, event: "1-0", source: "dc_1", owner: "u_1", payload: "{}" }) as StoredDeadLetter; // Nothing else is read.

/** Dead letters, and when they became due, in order. */
function store(ids: readonly string[]) {
  const letters = new Map(ids.map((id) => [id, letterOf(id)]));
  const scheduled = new Map<string, number>();
  const madeDue: string[] = [];
  const ports = {
    deliveries: {
      schedule: async (_: string, id: string, __: unknown, at: number) => void scheduled.set(id, at),
      findScheduled: async (_: string, id: string) => (scheduled.has(id) ? JSON.stringify({ id }) : undefined),
    },
    history: {
      findDeadLetter: async (_: string, id: string) => letters.get(id),
      oldestDeadLetters: async () => [...letters.values()],
      removeDeadLetters: async (_: string, removed: readonly string[]) => {
        for (const id of removed) letters.delete(id.slice("dl_".length));
      },
    },
    clock: { now: () => 1_000 },
    log: { warn: () => undefined },
  } as unknown as RedeliverPorts;
  let posted = 0;
  const parts = {
    routes: { webhook: () => ({ keys: ["key"] }) },
    deliverer: { schedule: async ({ id }: { readonly id: string }) => void madeDue.push(id) },
    pace: { waitMs: () => 500 * posted++ },
  } as unknown as RedeliverParts;
  return { scheduled, madeDue, redeliver: (deliveries: string[]) => redeliver({ webhook, deliveries }, parts, ports) };
}

it("makes several due at their pace, also if the request is repeated", async () => {
  const { scheduled, madeDue, redeliver: again } = store(["a", "b", "c"]);
  await again(["a", "b", "c"]);
  await again(["a", "b", "c"]);
  expect([[...scheduled], madeDue]).toEqual([
    [
      ["a", 1_000],
      ["b", 1_500],
      ["c", 2_000],
    ],
    [],
  ]);
});

it("makes a single one due at once, also one that waits for its turn", async () => {
  const { scheduled, madeDue, redeliver: again } = store(["a", "b", "c"]);
  await again(["a", "b"]);
  await again(["b"]);
  await again(["c"]);
  expect([scheduled.get("c"), madeDue]).toEqual([1_000, ["b"]]);
});
