import type { Histories } from "./ports.ts";

/** Of one owner's commits under way; about what the message server writes in a few milliseconds. */
const ownerBytes = 1024 * 1024;

interface Owner {
  bytes: number;
  commits: number;
  /** In order of their coming. */
  waiting: (() => void)[];
}

/**
 * The same histories, but of one owner's commits at most a megabyte is under way, or a single one that is larger: all of a runner's
 * commits go through one connection, and a neighbour's would queue behind whatever one owner's runs emitted together.
 */
export function appendInTurns(histories: Histories, most = ownerBytes): Histories {
  const owners = new Map<string, Owner>();

  async function append(...[id, source, commit, expectedSequence]: Parameters<Histories["append"]>): ReturnType<Histories["append"]> {
    const owner = owners.get(id) ?? { bytes: 0, commits: 0, waiting: [] };
    owners.set(id, owner);
    owner.commits++;
    while (owner.bytes > 0 && owner.bytes + commit.length > most) await new Promise<void>((resolve) => owner.waiting.push(resolve));
    owner.bytes += commit.length;
    try {
      return await histories.append(id, source, commit, expectedSequence);
    } finally {
      owner.bytes -= commit.length;
      owner.commits--;
      const waiting = owner.waiting;
      owner.waiting = [];
      for (const look of waiting) look();
      if (owner.commits === 0) owners.delete(id);
    }
  }

  return { last: (owner, source) => histories.last(owner, source), append };
}
