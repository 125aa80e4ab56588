import { Malformed } from "../errors.ts";

/** Of a whole query, in UTF-16 code units. */
export const maxQueryLength = 1_000;
export const maxTerms = 20;

/** One term of a query: a word, a "phrase", or a field with its value. */
export interface Term {
  /** Index of its first character in the query. */
  readonly at: number;
  /** Undefined: it is a word or a phrase. */
  readonly field: string | undefined;
  readonly value: string;
  /** Commas separate values only outside of quotes. */
  readonly isQuoted: boolean;
  /** It begins with `-`. */
  readonly isExcluded: boolean;
}

/** @param at index of the first character that is wrong */
export const invalidQuery = (problem: string, at: number): Malformed =>
  new Malformed(`the query is invalid at character ${at + 1}: ${problem}`, { code: "invalid_query", details: { position: at + 1 } });

/** Splits a query at white space that is not within quotes. @throws Malformed with the position */
export function termsOf(query: string): readonly Term[] {
  if (query.length > maxQueryLength) throw invalidQuery(`it has more than ${maxQueryLength} characters`, maxQueryLength);
  const terms: Term[] = [];
  for (let at = skipBlanks(query, 0); at < query.length;) {
    if (terms.length === maxTerms) throw invalidQuery(`it has more than ${maxTerms} terms: leave out this and the following`, at);
    const { term, end } = readTerm(query, at);
    terms.push(term);
    at = skipBlanks(query, end);
  }
  return terms;
}

const blanks = /\s*/y;
const name = /([A-Za-z_]+):/y;
const unquoted = /\S*/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const skipBlanks = (query: string, at: number): number => at + (matchAt(blanks, query, at)?.[0].length ?? 0);

function readTerm(query: string, at: number): { readonly term: Term; readonly end: number } {
  const isExcluded = query[at] === "-" && /\S/.test(query[at + 1] ?? "");
  const start = isExcluded ? at + 1 : at;
  const [prefix = "", field] = matchAt(name, query, start) ?? [];
  const valueAt = start + prefix.length;
  const isQuoted = query[valueAt] === '"';
  const { value, end } = isQuoted ? readQuoted(query, valueAt) : readUnquoted(query, valueAt);
  return { term: { at, field: field?.toLowerCase(), value, isQuoted, isExcluded }, end };
}

function readUnquoted(query: string, at: number): { readonly value: string; readonly end: number } {
  const value = matchAt(unquoted, query, at)?.[0] ?? "";
  return { value, end: at + value.length };
}

/** Within quotes, `\"` and `\\` are a quote and a backslash; any other backslash is itself. */
function readQuoted(query: string, at: number): { readonly value: string; readonly end: number } {
  let value = "";
  for (let next = at + 1; next < query.length; next++) {
    const character = query[next] ?? "";
    if (character === '"') return afterQuote(query, value, next + 1);
    const isEscape = character === "\\" && (query[next + 1] === '"' || query[next + 1] === "\\");
    if (isEscape) next++;
    value += query[next] ?? "";
  }
  throw invalidQuery('the quote that begins here does not end: add a ", or write \\" for the character itself', at);
}

function afterQuote(query: string, value: string, end: number): { readonly value: string; readonly end: number } {
  if (end < query.length && /\S/.test(query[end] ?? ""))
    throw invalidQuery('a space must follow the end of a quote; write \\" for the character itself', end);
  return { value, end };
}
