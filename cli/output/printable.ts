import { randomBytes } from "node:crypto";

/** Control characters but tab and line feed, and those that reverse the direction of what follows: a terminal would act on them. */
const unsafe = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text with control characters as `\x1b` or `\u202e`: others have written it, and a terminal would carry out what they say. */
export const printable = (text: string): string => text.replaceAll(unsafe, escapeOf);

function escapeOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : jsonEscapeOf(character);
}

const jsonEscapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** JSON of the same value without control characters: `JSON.stringify` leaves those above U+007E, which occur only in its strings. */
export const printableJson = (json: string): string => json.replaceAll(unsafe, jsonEscapeOf);

/** Whether a terminal shows the text as it is. */
export const isPrintable = (text: string): boolean => text.search(unsafe) === -1;

/** Stands for the escape character of a style. Text of others cannot contain it: it is chosen when the process starts. */
const mark = `\u{f0000}${randomBytes(8).toString("hex")};`;

/** Text in a style, until `shown` prints it: the style's sequences survive, those of the text do not. */
export const styled = (apply: (text: string) => string, text: string): string => apply(printable(text)).replaceAll("\u001b", mark);

/** What a terminal gets: printable text in its styles. */
export const shown = (text: string): string => printable(text).replaceAll(mark, "\u001b");
