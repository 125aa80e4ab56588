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

/** @param words in lower case */
export function wordPatterns(words: readonly string[]): WordPatterns {
  const letters = [...new Set(words.join(""))].filter((letter) => letter > "\u007F");
  const pairs = letters.flatMap((letter) => (hasOneCapital(letter) ? [[letter.toUpperCase(), letter] as const] : []));
  return {
    patterns: words.map((word) => `%${Array.from(word, likeCharacter).join("")}%`),
    capitals: pairs.map(([capital]) => capital).join(""),
    small: pairs.map(([, letter]) => letter).join(""),
  };
}

const hasOneCapital = (letter: string): boolean => {
  const capital = letter.toUpperCase();
  return capital !== letter && Array.from(capital).length === 1 && capital.toLowerCase() === letter;
};

/** Some texts are JSON: what JSON escapes stands for any text, and so do letters with several capitals, or none of one character. */
function likeCharacter(letter: string): string {
  const isAscii = letter >= " " && letter <= "~";
  if (isAscii) return letter === '"' || letter === "\\" ? "%" : escapeLike(letter);
  return letter < " " || !letter.isWellFormed() || (letter.toUpperCase() !== letter && !hasOneCapital(letter)) ? "%" : letter;
}

/** Pattern of `like` for a glob, in which only `*` is special. */
export const globPattern = (glob: string): string => escapeLike(glob).replaceAll("*", "%");

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** Patterns of `like` for the lines of some levels. In JSON, no text within a string looks like a member. */
export const levelPatterns = (levels: readonly LogLevel[]): readonly string[] => kindsOfLines(levels).map((kind) => `%"k":"${kind}"%`);
