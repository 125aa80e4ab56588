import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";

const turn = (): Promise<void> => Promise.resolve();

describe("FairSemaphore", () => {
  /** Method: random acquisitions, releases and aborts, compared with a count of holders and waiting callers. No caller may wait while a permit is free for it. */
  it("exceeds no limit, and leaves no permit unused while a caller may have it", async () => {
    const step = fc.record({ kind: fc.constantFrom("acquire", "release", "abort"), key: fc.constantFrom("a", "b", "c"), pick: fc.nat() });
    const options = { permits: fc.integer({ min: 1, max: 5 }), permitsPerKey: fc.integer({ min: 1, max: 3 }) };
    await fc.assert(
      fc.asyncProperty(fc.record(options), fc.array(step, { maxLength: 60 }), async (limits, steps) => {
        const semaphore = new FairSemaphore(limits);
        const held: string[] = [];
        const waiting: { readonly key: string; readonly abort: AbortController }[] = [];
        for (const { kind, key, pick } of steps) {
          if (kind === "acquire") {
            const entry = { key, abort: new AbortController() };
            const leave = (): void => void waiting.splice(waiting.indexOf(entry), 1);
            const granted = semaphore.acquire(key, entry.abort.signal);
            if (granted === undefined) held.push(key);
            else {
              waiting.push(entry);
              granted.then(() => (leave(), held.push(key)), leave);
            }
          } else if (kind === "abort") waiting[pick % Math.max(1, waiting.length)]?.abort.abort();
          else if (held.length > 0) {
            const [released = ""] = held.splice(pick % held.length, 1);
            semaphore.release(released);
          }
          await turn();
          const of = (list: readonly string[], id: string): number => list.filter((each) => each === id).length;
          expect([semaphore.taken, held.length <= limits.permits]).toEqual([held.length, true]);
          for (const id of ["a", "b", "c"]) {
            const waits = waiting.filter((entry) => entry.key === id).length;
            expect([semaphore.takenBy(id), semaphore.waitingFor(id)]).toEqual([of(held, id), waits]);
            expect(of(held, id)).toBeLessThanOrEqual(limits.permitsPerKey);
            if (held.length < limits.permits && of(held, id) < limits.permitsPerKey) expect(waits).toBe(0);
          }
        }
      }),
    );
  });

  it("serves waiting keys in turn, however many callers wait for one key", async () => {
    const semaphore = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
    const order: string[] = [];
    expect(semaphore.acquire("flood")).toBeUndefined();
    for (let n = 0; n < 4; n++) void semaphore.acquire("flood")?.then(() => order.push("flood"));
    void semaphore.acquire("other")?.then(() => order.push("other"));
    for (const key of ["flood", "other", "flood"]) {
      semaphore.release(key);
      await turn();
    }
    expect(order).toEqual(["other", "flood", "flood"]);
  });

  it("runs tasks of several keys in turn, and is idle after the last one", async () => {
    const semaphore = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
    const order: string[] = [];
    await semaphore.whenIdle();
    const all = ["a", "a", "a", "a", "b", "c", "b"].map((key) => semaphore.use(key, async () => void order.push(key)));
    await Promise.all(all);
    expect(order).toEqual(["a", "b", "c", "a", "b", "a", "a"]);
    const failing = semaphore.use("a", () => Promise.reject(new Error("no"))).catch(() => order.push("failed"));
    await semaphore.whenIdle();
    await failing;
    expect(order.at(-1)).toBe("failed");
  });

  it("grants a key that is alone more permits until another key comes", async () => {
    let now = 0;
    const semaphore = new FairSemaphore({ permits: 8, permitsPerKey: 1, alone: { permits: 3, now: () => now } });
    const began: string[] = [];
    const acquire = (key: string, name: string): void => {
      const later = semaphore.acquire(key);
      if (later === undefined) began.push(name);
      else void later.then(() => began.push(name));
    };
    for (const name of ["a1", "a2", "a3", "a4"]) acquire("a", name);
    expect(began).toEqual(["a1", "a2", "a3"]);
    acquire("b", "b1");
    for (let released = 0; released < 2; released++) semaphore.release("a");
    await turn();
    expect(began).toEqual(["a1", "a2", "a3", "b1"]);
    semaphore.release("b");
    now = 60_000; // The other key has not been active for long.
    acquire("a", "a5");
    await turn();
    expect(began).toEqual(["a1", "a2", "a3", "b1", "a4", "a5"]);
  });

  it("rejects with the signal's reason, before and while it waits, and passes the permit on", async () => {
    const semaphore = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
    const late = new Error("too late");
    expect(() => semaphore.acquire("a", AbortSignal.abort(late))).toThrow(late);
    expect(semaphore.acquire("a")).toBeUndefined();
    const abort = new AbortController();
    const aborted = semaphore.acquire("a", abort.signal);
    const next = semaphore.acquire("a");
    abort.abort(late);
    await expect(aborted).rejects.toBe(late);
    semaphore.release("a");
    await next;
    expect(semaphore.taken).toBe(1);
  });

  it("releases the permit of a task that fails", async () => {
    const semaphore = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
    await expect(semaphore.use("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await semaphore.use("a", () => 5)).toBe(5);
    expect(semaphore.taken).toBe(0);
  });
});
