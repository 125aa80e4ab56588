import type { Histories } from "./ports.ts";
import { Neighbours } from "./sandbox/neighbours.ts";
import { OwnerSlots } from "./sandbox/owner-slots.ts";

/** What is smaller goes at once, characters: the message server writes it in a fraction of a millisecond. */
const large = 64 * 1024;
/** After each of them the way is free for so many times as long as it took, ms at most. */
const rest = { times: 3, mostMs: 250 };

export interface LargeCommitsOptions {
  /** ms, from anywhere; never goes back. */
  readonly now: () => number;
  /** Calls back after so many ms. */
  readonly after: (ms: number, action: () => void) => void;
}

/**
 * The same histories, but while several owners are active large commits go one at a time, each owner in turn, and take a quarter of the
 * time at most: the message server writes one message after the other and to the disk, so that a neighbour's commit waits for all that were
 * sent before it. An owner who is alone waits for nothing.
 */
export function largeCommitsInTurn(histories: Histories, { now, after }: LargeCommitsOptions): Histories {
  const neighbours = new Neighbours();
  const way = new OwnerSlots({ slots: 1, ofOwner: 1, alone: 1 }, now);

  async function appendInTurn(...[owner, ...commit]: Parameters<Histories["append"]>): ReturnType<Histories["append"]> {
    await way.take(owner);
    const startedAt = now();
    try {
      return await histories.append(owner, ...commit);
    } finally {
      after(Math.min(rest.mostMs, rest.times * (now() - startedAt)), () => way.release(owner));
    }
  }

  return {
    last: (owner, source) => histories.last(owner, source),
    append: (...[owner, source, commit, expected]) => {
      neighbours.sawActive(owner, now());
      const isFree = commit.length <= large || !neighbours.has(owner, now());
      return isFree ? histories.append(owner, source, commit, expected) : appendInTurn(owner, source, commit, expected);
    },
  };
}
