import type { SearchQuery } from "./query.ts";

/**
 * Place of a stored item in the order of a search: newest first, and in one order among those of one millisecond. A search continues behind
 * a position.
 */
export interface SearchPosition {
  /** Epoch ms. */
  readonly at: number;
  readonly table: SearchedTable;
  /** Source or workflow. */
  readonly emitter: string;
  /** Number of the row within the emitter. */
  readonly number: number;
}

/** In the order of items of one time: the last one first. */
export const searchedTables = ["workflow_runs", "runs", "logs", "events"] as const;
/** Orders what has the same time. */
export const rankOf = (table: SearchedTable): number => searchedTables.indexOf(table);
export type SearchedTable = (typeof searchedTables)[number];

/** A stored item that may match. */
export interface SearchCandidate extends SearchPosition {
  readonly run: string;
  /** Of a run: its state. */
  readonly status: string | null;
  /** Of an event. */
  readonly channel: string | null;
  /** Summary of an event, reason of the state of a run. */
  readonly head: string | null;
  /** Of a line: its place among those of its run. Null: it was stored by an early version. */
  readonly line: number | null;
  /** JSON: payload of an event, record of a line, summary of a run of a source, error of a run of a workflow. Its beginning, if it is long. */
  readonly body: string | null;
}

/** Characters of an item that are searched, from its start. */
export const maxSearchedText = 32_768;
/** Of a summary or a reason. */
export const maxSearchedHead = 4_096;

/** The part of the history to read next: rows of these owners behind the position, newest first. */
export interface SearchWindow {
  readonly query: SearchQuery;
  readonly owners: readonly string[];
  /** Ids of the sources and workflows to which `query.sources` and `query.run` refer; undefined: any. */
  readonly emitters?: readonly string[] | undefined;
  /** Reads the rows of all emitters, although the query names some: there are many of them, or theirs take long to read. */
  readonly isByOwner: boolean;
  /** Absent: from the newest. */
  readonly after?: SearchPosition | undefined;
  /** Rows to look at. */
  readonly rows: number;
  /** Candidates to return at most. */
  readonly limit: number;
}

export type WindowOutcome =
  | {
      readonly outcome: "read";
      readonly candidates: readonly SearchCandidate[];
      /** Everything up to it was looked at; undefined: there are no older rows. */
      readonly end: SearchPosition | undefined;
    }
  /** The rows took too long to read: ask for fewer. */
  | { readonly outcome: "too_slow" };
