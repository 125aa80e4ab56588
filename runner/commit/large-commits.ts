import { Contention } from "../../domain/limits/contention.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { Histories } from "../ports.ts";

/** Characters. NATS writes a smaller commit in a fraction of a millisecond: it is sent at once. */
const maxSmall = 64 * 1024;
/** After each large commit none is sent for this many times as long as it took, ms at most. */
const pause = { times: 3, maxMs: 250 };

export interface LargeCommitsOptions {
  /** ms of a clock that never goes back. */
  readonly now: () => number;
  /** Calls back after so many ms. */
  readonly after: (ms: number, action: () => void) => void;
}

/**
 * The same histories, but large commits of contended owners are published one at a time, each owner in turn, and in a quarter of the time
 * at most. NATS stores one message after the other, so each commit of a neighbour waits for all that were sent before it.
 */
export function largeCommitsInTurn(histories: Histories, { now, after }: LargeCommitsOptions): Histories {
  const contention = new Contention();
  const lane = new FairSemaphore({ permits: 1, permitsPerKey: 1 });

  async function appendInTurn(...[owner, ...commit]: Parameters<Histories["append"]>): ReturnType<Histories["append"]> {
    await lane.acquire(owner);
    const startedAt = now();
    try {
      return await histories.append(owner, ...commit);
    } finally {
      after(Math.min(pause.maxMs, pause.times * (now() - startedAt)), () => lane.release(owner));
    }
  }

  return {
    last: (owner, source) => histories.last(owner, source),
    append: (...[owner, source, commit, expected]) => {
      contention.noteActive(owner, now());
      const isFree = commit.length <= maxSmall || !contention.hasOthers(owner, now());
      return isFree ? histories.append(owner, source, commit, expected) : appendInTurn(owner, source, commit, expected);
    },
  };
}
