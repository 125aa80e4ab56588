import { z } from "zod";
import { InvalidInput } from "../../domain/errors.ts";
import { searchedTables, type SearchPosition } from "../../domain/search/item.ts";

/** Where a search continues, and the time at which it began: ages such as `-2h` count from then on all pages. */
export interface SearchCursor {
  readonly nowMs: number;
  readonly position: SearchPosition;
  /** Its rows are read by owner, since reading by source was slow. Of a forged one, the search takes longer and finds the same. */
  readonly isByOwner: boolean;
}

const maxLength = 400;
const form = z.tuple([z.int().min(0), z.int(), z.enum(searchedTables), z.string().regex(/^\w{0,100}$/), z.int(), z.boolean()]);

export function writeCursor({ nowMs, position: { at, table, emitter, number }, isByOwner }: SearchCursor): string {
  return Buffer.from(JSON.stringify([nowMs, at, table, emitter, number, isByOwner] satisfies z.input<typeof form>)).toString("base64url");
}

/** @throws InvalidInput */
export function readCursor(text: string): SearchCursor {
  try {
    if (text.length > maxLength) throw new RangeError("it is too long");
    const [nowMs, at, table, emitter, number, isByOwner] = form.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { nowMs, position: { at, table, emitter, number }, isByOwner };
  } catch (cause) {
    throw new InvalidInput(`cursor '${text.slice(0, 80)}' is invalid: it must be the cursor of a search`, {
      code: "invalid_cursor",
      cause,
    });
  }
}
