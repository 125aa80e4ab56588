import type { SearchQuery } from "./query.ts";

/** A text of an item. In JSON, quotes and control characters of strings are escaped. */
export interface SearchedText {
  readonly text: string;
  readonly isJson?: boolean;
  /** The text in lower case, for texts that are compared more than once. */
  readonly lower?: string;
}

export const inLowerCase = (texts: readonly SearchedText[]): readonly SearchedText[] =>
  texts.map((text) => ({ ...text, lower: text.text.toLowerCase() }));

/** Characters of an excerpt, with the marks where it is cut. */
export const maxExcerpt = 240;
const before = 60;

/**
 * Whether the texts together contain every word, and none of the excluded ones, in any letter case; and the part around the first match.
 *
 * @returns undefined if they do not match
 */
export function matchTexts(
  texts: readonly SearchedText[],
  { words, excluded }: Pick<SearchQuery, "words" | "excluded">,
): string | undefined {
  const lower = texts.map(({ text, lower: known = text.toLowerCase(), isJson = false }) => ({ text: known, isJson }));
  const placeOf = (word: string): { readonly index: number; readonly at: number } | undefined => {
    for (const [index, { text, isJson }] of lower.entries()) {
      const at = text.indexOf(isJson ? escaped(word) : word);
      if (at !== -1) return { index, at };
    }
    return undefined;
  };
  if (excluded.some((word) => placeOf(word) !== undefined)) return undefined;
  const places = words.map(placeOf);
  if (places.includes(undefined)) return undefined;
  const { index, at } = places[0] ?? { index: texts.findIndex(({ text }) => text !== ""), at: 0 };
  return excerpt(texts[index]?.text ?? "", lower[index]?.text ?? "", at);
}

/** As JSON.stringify writes it within a string. */
const escaped = (word: string): string => JSON.stringify(word).slice(1, -1);

/** On one line. */
function excerpt(text: string, lower: string, at: number): string {
  // The lower case of a few letters is longer: then the place is one of the lower text.
  const shown = text.length === lower.length ? text : lower;
  const start = at <= before ? 0 : at - before;
  const room = maxExcerpt - 2;
  const part = shown
    .slice(start, start + room)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return `${start > 0 ? "…" : ""}${part}${start + room < shown.length ? "…" : ""}`;
}
