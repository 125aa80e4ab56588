import { expect, test, vi } from "vitest";
import { startFilling, startUpkeep } from "../../../delivery/record/upkeep.ts";
import { Unavailable } from "../../../domain/errors.ts";

test("deletes all requested batches in one round, repeats failures, and sweeps once", async () => {
  const done: string[] = [];
  const warned: string[] = [];
  let left = 3;
  let failures = 2;
  const history = {
    continueDeletions: async () => {
      if (failures-- > 0) throw new Unavailable("Postgres is away");
      if (left === 0) return false;
      done.push(`batch ${left--}`);
      return true;
    },
    sweep: async () => void done.push("sweep"),
  };
  const upkeep = startUpkeep(history, { warn: (_, message = "") => void warned.push(message) }, { everyMs: 1 });
  await vi.waitUntil(() => done.includes("sweep"), { timeout: 120_000 });
  left = 1;
  await vi.waitUntil(() => done.length === 5, { timeout: 120_000 });
  await upkeep.stop();
  expect(done).toEqual(["batch 3", "batch 2", "batch 1", "sweep", "batch 1"]);
  expect(warned).toEqual(Array.from({ length: 2 }, () => "old history is not deleted yet, trying again in a moment"));
});

test("finishes the current batch when it is stopped, and starts no other", async () => {
  let [begun, ended] = [0, 0];
  let finish: (() => void) | undefined;
  const history = {
    continueDeletions: async () => {
      begun++;
      await new Promise<void>((resolve) => (finish = resolve));
      ended++;
      return true;
    },
    sweep: async () => undefined,
  };
  const upkeep = startUpkeep(history, { warn: () => undefined });
  await vi.waitUntil(() => finish !== undefined, { timeout: 120_000 });
  const stopped = upkeep.stop();
  finish?.();
  await stopped;
  expect([begun, ended]).toEqual([1, 1]);
});

test("pauses after each batch of rows to fill in, repeats failures, and ends when it is stopped", async () => {
  const begun: number[] = [];
  const warned: string[] = [];
  const answers = [true, true, new Unavailable("Postgres is away"), true, false];
  const fill = async () => {
    const answer = answers[begun.push(performance.now()) - 1] ?? false;
    if (typeof answer === "object") throw answer;
    return answer;
  };
  const filling = startFilling(fill, { warn: (_, message = "") => void warned.push(message) }, { everyMs: 200, pauseMs: 50 });
  await vi.waitUntil(() => begun.length === 6, { timeout: 120_000 });
  await filling.stop();
  const pauses = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
  for (const [index, atLeast] of [50, 50, 200, 50, 200].entries()) expect(pauses[index]).toBeGreaterThanOrEqual(atLeast - 2);
  expect(begun).toHaveLength(6);
  expect(warned).toEqual(["older rows of the history cannot be searched yet, trying again in a moment"]);
});
