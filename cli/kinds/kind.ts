import type { Client, OperationId } from "../../client/client.ts";
import type { Page } from "../../client/pages.ts";
import type { Column } from "../output/table.ts";

/** Query parameters of a page. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/** A kind of things that can be listed. */
export interface Kind<T = Item> {
  /** Plural, as in `hw list sources`. */
  readonly name: string;
  /** Singular, for messages. */
  readonly noun: string;
  readonly aliases: readonly string[];
  /** Ids start with it; undefined: the kind has names only. */
  readonly prefix?: string;
  readonly operations: readonly OperationId[];
  readonly list: (client: Client, query: PageQuery) => Promise<Page<T>>;
  readonly listOfOrganization?: (client: Client, org: string, query: PageQuery) => Promise<Page<T>>;
  readonly columns: readonly Column<T>[];
  readonly nameOf?: (item: T) => string;
  /** Names that may stand in place of the id. */
  readonly namesOf?: (item: T) => readonly (string | null | undefined)[];
  /** Its names need the kind before them, as in `app/slack`: they are often those of other things. */
  readonly needsKind?: boolean;
  /** What the API answers about one. */
  readonly get?: (client: Client, id: string) => Promise<{ readonly data: T }>;
  readonly delete?: (client: Client, id: string, options: DeleteOptions) => Promise<unknown>;
  /** Page of the console. */
  readonly consolePath?: string;
}

export interface DeleteOptions {
  readonly ignoresHookErrors: boolean;
  readonly isForced: boolean;
}

/** Any item: its columns read the fields that its kind has. */
export type Item = Readonly<Record<string, unknown>>;

/** Forgets the type of the items: their columns and names get only what `list` and `get` of the same kind returned. */
export const kindOf = <T>(kind: Kind<T>): Kind => kind as unknown as Kind;

/** `93.3 %`; `-` if nothing was counted. */
export const percentage = (rate: number | null): string => (rate === null ? "-" : `${Math.round(rate * 1_000) / 10} %`);

/** A list that the API answers at once, in the form of a page. */
export const onePage = async <T>(answer: Promise<{ readonly data: readonly T[] }>): Promise<Page<T>> => {
  const { data } = await answer;
  return { page_info: { total_count: data.length, end_cursor: null }, data };
};
