import type { Page } from "../client/pages.ts";
import type { OptionDefinition } from "./command.ts";
import type { Context } from "./context.ts";
import { usageFailure } from "./failure.ts";
import type { Given } from "./given.ts";
import type { PageQuery } from "./kinds/kind.ts";
import type { Column } from "./output/table.ts";
import { watchList } from "./output/watch.ts";
import { collect } from "./pages.ts";

/** Options of every list. */
export const listOptions: readonly OptionDefinition[] = [
  { flags: "-n, --limit <count>", description: "list at most this many", value: "count" },
  { flags: "-w, --watch", description: "keep running, and print what changes" },
];

/** A list and how to show it. */
export interface Listing<T> {
  /** Plural noun, for progress and for an empty list. */
  readonly what: string;
  readonly columns: readonly Column<T>[];
  readonly nameOf?: ((item: T) => string) | undefined;
  readonly read: (query: PageQuery) => Promise<Page<T>>;
  /** Items without `--limit`; undefined: all. */
  readonly defaultLimit?: number;
}

/** @throws Failure for `--limit 0`, which would list nothing and say that there is nothing */
export function refuseZero(given: Given): void {
  if (given.count("limit") === 0) throw usageFailure("--limit 0 is invalid: it must be an integer from 1");
}

/** Prints a list, with as many pages as needed; with `--watch` again and again. */
export async function showList<T>(
  context: Context,
  given: Given,
  { what, columns, nameOf, read, defaultLimit }: Listing<T>,
): Promise<void> {
  const { terminal, out } = context;
  refuseZero(given);
  const limit = given.count("limit") ?? defaultLimit;
  const readAll = (): ReturnType<typeof collect<T>> => terminal.progress(`Listing ${what}`, () => collect(read, limit));
  if (given.flag("watch")) return watchList(context, { columns, read: readAll });
  const answer = await readAll();
  await out.list(answer, columns, nameOf);
  if (answer.data.length === 0) out.note(`no ${what}`);
}
