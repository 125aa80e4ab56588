import { sql, type RawBuilder } from "kysely";
import { kindsOfLines } from "../../../domain/search/levels.ts";
import type { LogLevel } from "../../../domain/search/query.ts";

/** How to compare texts with words in any letter case, whatever the locale of the database is. */
export interface WordPatterns {
  /** For `ilike` in the collation "C", which knows the case of ASCII alone. They may match more, but not less. */
  readonly patterns: readonly string[];
  /** Other capital letters of the words, and the small ones for which `translate` replaces them in the texts. */
  readonly capitals: string;
  readonly small: string;
}

/** Whether a text contains all words; it may also be true if it does not, but is for whatever `matchTexts` accepts. @param words in lower case */
export function containsWords(text: RawBuilder<unknown>, words: readonly string[]): RawBuilder<unknown> {
  const { patterns, capitals, small } = wordPatterns(words);
  return sql`(cardinality(${patterns}::text[]) = 0
      or (case when ${capitals}::text = '' then ${text} else translate(${text}, ${capitals}::text, ${small}::text) end)
        collate "C" ilike all(${patterns}::text[]))`;
}

/** @param words in lower case */
export function wordPatterns(words: readonly string[]): WordPatterns {
  const letters = [...new Set(words.join(""))].filter((letter) => letter > "\u007F");
  const pairs = letters.flatMap((letter) => (hasOneCapital(letter) ? [[letter.toUpperCase(), letter] as const] : []));
  return {
    patterns: words.map((word) => `%${word.split(betweenNameAndMessage).map(likeText).join("%")}%`),
    capitals: pairs.map(([capital]) => capital).join(""),
    small: pairs.map(([, letter]) => letter).join(""),
  };
}

const hasOneCapital = (letter: string): boolean => {
  const capital = letter.toUpperCase();
  return capital !== letter && Array.from(capital).length === 1 && capital.toLowerCase() === letter;
};

/** Errors are compared as "name: message", and stored as two members of an object. */
const betweenNameAndMessage = /^ |: ?/;
const likeText = (text: string): string => Array.from(text, likeCharacter).join("");

/** Small letters of several capitals: U+0130, U+212A, U+212B, U+2126, U+03F4, and those of two letters in one, such as U+01C5. */
const manyCapitals = "ikåωθǆǉǌǳ";
/** The lower case of U+0130 is an i and this dot. */
const dotAbove = "\u0307";

/** Some texts are JSON: what JSON escapes stands for any text, and so do letters with several capitals, or none of one character. */
function likeCharacter(letter: string): string {
  if (manyCapitals.includes(letter)) return "_";
  if (letter === dotAbove) return "%";
  const isAscii = letter >= " " && letter <= "~";
  if (isAscii) return letter === '"' || letter === "\\" ? "%" : escapeLike(letter);
  return letter < " " || !letter.isWellFormed() || (letter.toUpperCase() !== letter && !hasOneCapital(letter)) ? "%" : letter;
}

/** Pattern of `like` for a glob, in which only `*` is special. */
export const globPattern = (glob: string): string => escapeLike(glob).replaceAll("*", "%");

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** Patterns of `like` for the lines of some levels. In JSON, no text within a string looks like a member. */
export const levelPatterns = (levels: readonly LogLevel[]): readonly string[] => kindsOfLines(levels).map((kind) => `%"k":"${kind}"%`);
