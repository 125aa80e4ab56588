import { Contention } from "../../domain/limits/contention.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { CommitStore } from "./ports.ts";

/** Maximum characters of a small commit, which is sent at once: NATS stores it in a fraction of a millisecond. */
const maxSmallChars = 64 * 1024;
/** After each large commit, a pause of this many times its duration, up to a maximum. */
const pause = { factor: 3, maxMs: 250 };

export interface LargeCommitsOptions {
  /** Monotonic time, ms. */
  readonly now: () => number;
  /** Calls back after so many ms. */
  readonly after: (ms: number, action: () => void) => void;
}

/**
 * Wraps a commit store: while several owners are active, it sends large commits one at a time, owners in turn, for at most a quarter of
 * the time. NATS stores messages one by one, so a small commit waits for all large ones that were sent before it.
 */
export function limitLargeCommits(commits: CommitStore, { now, after }: LargeCommitsOptions): CommitStore {
  const contention = new Contention();
  const semaphore = new FairSemaphore({ permits: 1, permitsPerKey: 1 });

  async function appendInTurn(...[owner, ...commit]: Parameters<CommitStore["append"]>): ReturnType<CommitStore["append"]> {
    await semaphore.acquire(owner);
    const startedAt = now();
    try {
      return await commits.append(owner, ...commit);
    } finally {
      after(Math.min(pause.maxMs, pause.factor * (now() - startedAt)), () => semaphore.release(owner));
    }
  }

  return {
    ...commits,
    append: (...appended) => {
      const [owner, , commit] = appended;
      contention.noteActive(owner, now());
      const canSendNow = commit.length <= maxSmallChars || !contention.hasOthers(owner, now());
      return canSendNow ? commits.append(...appended) : appendInTurn(...appended);
    },
  };
}
