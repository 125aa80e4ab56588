import { InvalidInput } from "../../domain/errors.ts";
import { isEventId, parseEventId } from "../../domain/event/event-id.ts";
import type { Item } from "../streams/frames.ts";
import { itemResponse } from "./response.ts";
import type { FoundItem } from "./search.ts";

/** Position of an item: the sequence of its commit in RUNS, and its index within the commit. */
export interface LivePosition {
  readonly sequence: number;
  readonly index: number;
}

/** What could not be compared or sent. */
export interface Skipped {
  /** Commits that were not compared. Null: some since the last connection, and it is unknown how many. */
  readonly commits: number | null;
  /** Matches that were not sent: too many, or of a source that is not known yet. */
  readonly items: number;
}

/** Larger than that of any item of a commit. */
const endOfCommit = 999_999_999;

/** Live items come from no channel. */
const channel = "";

/** @param position undefined: the item is of no commit, and the stream cannot be continued after it */
export const itemFrame = (found: FoundItem, position: LivePosition | undefined): Item =>
  position === undefined
    ? { channel, isEvent: true, frame: data(itemResponse(found)) }
    : { channel, id: idOf(position), frame: `id: ${idOf(position)}\n${data(itemResponse(found))}` };

/** Says that everything up to this commit was sent, so that the next connection continues after it. */
export function positionFrame(sequence: number): Item {
  const id = idOf({ sequence, index: endOfCommit });
  return { channel, id, frame: `id: ${id}\nevent: position\n${data({})}` };
}

export const skippedFrame = ({ commits, items }: Skipped): Item => ({
  channel,
  isEvent: true,
  frame: `event: skipped\n${data({ commits, items })}`,
});

const idOf = ({ sequence, index }: LivePosition): string => `${sequence}-${index}`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** @throws InvalidInput */
export function parseLivePosition(id: string): LivePosition {
  if (!isEventId(id)) throw new InvalidInput(`Last-Event-ID '${id.slice(0, 80)}' is invalid: it must be the last id of a live search`);
  const { ms: sequence, sequence: index } = parseEventId(id);
  return { sequence, index };
}
