import { runsOfOwner } from "../../domain/subjects.ts";
import type { RunMessage, RunMessages } from "../streams/ports.ts";

/** Larger commits are read again when it is their turn: there may be one of each owner. */
const maxHeldBytes = 65_536;

/** The next commit of an owner. */
interface Head {
  readonly sequence: number;
  readonly message: RunMessage | undefined;
}

export interface CommitRange {
  readonly owners: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Commits of these owners, both ends inclusive, in the order of RUNS. @throws Unavailable */
export async function* commitsBetween(runs: Pick<RunMessages, "findNext">, { owners, from, to }: CommitRange): AsyncGenerator<RunMessage> {
  const heads = new Map<string, Head>();
  const advance = async (owner: string, sequence: number): Promise<void> => {
    const message = sequence > to ? undefined : await runs.findNext(runsOfOwner(owner), sequence);
    if (message === undefined || message.sequence > to) return void heads.delete(owner);
    heads.set(owner, { sequence: message.sequence, message: message.bytes > maxHeldBytes ? undefined : message });
  };
  for (const owner of owners) await advance(owner, from);
  while (heads.size > 0) {
    const [owner, { sequence, message: held }] = [...heads].reduce((first, other) =>
      other[1].sequence < first[1].sequence ? other : first,
    );
    const message = held ?? (await runs.findNext(runsOfOwner(owner), sequence));
    // A commit that was removed in between is not the one that was asked for.
    if (message?.sequence === sequence) yield message;
    await advance(owner, sequence + 1);
  }
}
