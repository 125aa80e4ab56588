import type { SearchCandidate } from "./item.ts";
import { matchTexts } from "./match.ts";
import type { LogLevel, SearchKind, SearchQuery } from "./query.ts";
import { isOfLevels, itemOf } from "./texts.ts";

export interface Found {
  readonly kind: SearchKind;
  /** Of a line of a console, and of an error. */
  readonly level: LogLevel | null;
  readonly excerpt: string;
}

/** Compares a candidate with the words and levels of a query. Undefined: it does not match. */
export function findIn(candidate: SearchCandidate, query: SearchQuery): Found | undefined {
  const { kind, level, texts } = itemOf(candidate);
  const excerpt = isOfLevels({ level }, query) ? matchTexts(texts, query) : undefined;
  return excerpt === undefined ? undefined : { kind, level, excerpt };
}
