import { expect, it, vi } from "vitest";
import { WorkQueue, type Verdict } from "../../operator/controller/work-queue.ts";

const options = { concurrency: 4, baseDelayMs: 1, maxDelayMs: 20, random: () => 0.5 };
const done: Verdict = { outcome: "done" };
const failed: Verdict = { outcome: "failed" };

it("runs one pass of a key at a time, and one more if the key was added during it", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  let passes = 0;
  const queue = new WorkQueue(options, async () => {
    most = Math.max(most, ++running);
    passes++;
    if (passes === 1) await gate.promise;
    running--;
    return done;
  });
  for (let i = 0; i < 5; i++) queue.add("a");
  queue.add("a");
  gate.resolve();
  await vi.waitFor(() => expect(queue.idle).toBe(true), { timeout: 120_000 });
  expect([most, passes]).toEqual([1, 2]);
  await queue.stop();
});

it("retries failed keys with growing delays, and resets the delay after a success", async () => {
  const at: number[] = [];
  const counted = { added: 0, retried: 0, waited: 0, depth: 0 };
  const metrics = {
    added: () => counted.added++,
    retried: () => counted.retried++,
    waited: (seconds: number) => (counted.waited += seconds),
    depth: (keys: number) => (counted.depth = keys),
  };
  const queue = new WorkQueue({ ...options, baseDelayMs: 8, maxDelayMs: 1_000, metrics }, () => {
    at.push(performance.now());
    return Promise.resolve(at.length < 5 ? failed : done);
  });
  queue.add("a");
  await vi.waitFor(() => expect(at).toHaveLength(5), { timeout: 120_000 });
  const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  // Jitter at random() = 0.5 is three quarters: 6, 12, 24, 48 ms, and timers are never early.
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThan(6 * 2 ** index - 2);
  await vi.waitFor(() => expect(queue.failing).toBe(0), { timeout: 120_000 });
  expect(counted).toMatchObject({ retried: 4, added: 5, depth: 0 });
  await queue.stop();
});

it("limits the retries of all keys by the token bucket", async () => {
  const passes = new Map<string, number>();
  const queue = new WorkQueue({ ...options, retries: { perSecond: 1, burst: 10 } }, (key) => {
    passes.set(key, (passes.get(key) ?? 0) + 1);
    return Promise.resolve(failed);
  });
  for (let i = 0; i < 50; i++) queue.add(`key-${i}`);
  await vi.waitFor(() => expect([...passes.values()].reduce((sum, count) => sum + count)).toBe(60), { timeout: 120_000 });
  expect(queue.delayed).toBe(50);
  await queue.stop();
});

it("runs changed keys before background keys, and starves neither", async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const queue = new WorkQueue({ ...options, concurrency: 1 }, async (key) => {
    if (key === "first") await gate.promise;
    order.push(key);
    return done;
  });
  queue.add("first");
  for (let i = 0; i < 3; i++) queue.add(`b${i}`, "background");
  for (let i = 0; i < 9; i++) queue.add(`c${i}`);
  queue.add("b2");
  gate.resolve();
  await vi.waitFor(() => expect(queue.idle).toBe(true), { timeout: 120_000 });
  expect(order).toEqual(["first", "c0", "c1", "c2", "b0", "c3", "c4", "c5", "c6", "b1", "c7", "c8", "b2"]);
  await queue.stop();
});

it("requeues a key after the shorter of two delays, and not after a stop", async () => {
  const seen: string[] = [];
  const queue = new WorkQueue(options, (key) => {
    seen.push(key);
    return Promise.resolve(done);
  });
  queue.addAfter("a", 2);
  queue.addAfter("a", 60_000);
  queue.addAfter("b", 60 * 86_400_000);
  await vi.waitFor(() => expect(seen).toEqual(["a"]), { timeout: 120_000 });
  expect(queue.delayed).toBe(1);
  await queue.stop();
  queue.add("c");
  expect([queue.depth, queue.delayed]).toEqual([0, 0]);
});

it("aborts running passes and waits for them when it stops", async () => {
  let ended = false;
  const queue = new WorkQueue(options, async (_key, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    ended = true;
    return failed;
  });
  queue.add("a");
  await queue.stop();
  expect([ended, queue.delayed]).toEqual([true, 0]);
});
