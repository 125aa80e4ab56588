import type { SearchCandidate } from "./item.ts";
import { inLowerCase, matchTexts, type SearchedText } from "./match.ts";
import type { LogLevel, SearchKind, SearchQuery } from "./query.ts";
import { isOfLevels, itemOf, type SearchedItem } from "./texts.ts";

export interface Found {
  readonly kind: SearchKind;
  /** Of a line of a console, and of an error. */
  readonly level: LogLevel | null;
  readonly excerpt: string;
}

/** Compares a candidate with the words and levels of a query. Undefined: it does not match. */
export const findIn = (candidate: SearchCandidate, query: SearchQuery): Found | undefined => new ComparedItem(candidate).find(query);

/** An item that is compared with several queries. What they need of it is prepared by the first of them. */
export class ComparedItem<Candidate extends SearchCandidate = SearchCandidate> {
  readonly candidate: Candidate;
  #item: SearchedItem | undefined;
  #texts: readonly SearchedText[] | undefined;

  constructor(candidate: Candidate) {
    this.candidate = candidate;
  }

  /** As `findIn`. */
  find(query: SearchQuery): Found | undefined {
    const { kind, level, texts } = (this.#item ??= itemOf(this.candidate));
    if (!isOfLevels({ level }, query)) return undefined;
    const excerpt = matchTexts((this.#texts ??= inLowerCase(texts)), query);
    return excerpt === undefined ? undefined : { kind, level, excerpt };
  }
}
