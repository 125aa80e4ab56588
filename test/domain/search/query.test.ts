import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Malformed } from "../../../domain/errors.ts";
import { parseLiveSearch, parseSearch, searchKinds, type SearchQuery } from "../../../domain/search/query.ts";
import { maxQueryLength, maxTerms } from "../../../domain/search/terms.ts";

const now = Date.UTC(2027, 0, 31, 12);
const hour = 3_600_000;
const all: SearchQuery = { words: [], excluded: [], events: true, logs: true, runs: "all" };
const parse = (text: string): SearchQuery => parseSearch(text, now);

function refused(text: string): { readonly message: string; readonly position: unknown } {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    expect(error).toMatchObject({ status: 400, code: "invalid_query" });
    return { message: error.message, position: (error.details as { position: unknown }).position };
  }
  throw new Error(`${text} is accepted`);
}

describe("a query", () => {
  test.each<[string, Partial<SearchQuery>]>([
    ["", {}],
    ["  \t ", {}],
    ["Stock", { words: ["stock"] }],
    ['"Negative  stock" x', { words: ["negative  stock", "x"] }],
    ['-draft -"not this"', { excluded: ["draft", "not this"] }],
    ["- -- a-b", { words: ["-", "a-b"], excluded: ["-"] }],
    ['"a \\"b\\" \\\\ \\n"', { words: ['a "b" \\ \\n'] }],
    ["12:30 -2h", { words: ["12:30"], excluded: ["2h"] }],
    ['"after:-2h"', { words: ["after:-2h"] }],
    ["kind:event", { logs: false, runs: "none" }],
    ["in:log,error", { events: false, runs: "failed" }],
    ["KIND:Run", { events: false, logs: false }],
    ["level:error", { levels: ["error"], events: false, runs: "failed" }],
    ["level:warn,info", { levels: ["warn", "info"], events: false, runs: "none" }],
    ["kind:run level:error", { levels: ["error"], events: false, logs: false, runs: "failed" }],
    ["source:stripe*", { sources: ["stripe*"] }],
    ['workflow:"Daily, report"', { sources: ["Daily, report"] }],
    ["source:dc_1,p_2", { sources: ["dc_1", "p_2"] }],
    ["status:failed,canceled", { statuses: ["failed", "canceled"] }],
    ["run:r_1a", { run: "r_1a" }],
    ["r_1a", { run: "r_1a" }],
    ['"r_1a"', { words: ["r_1a"] }],
    ["run:r_1a r_2b", { run: "r_1a", words: ["r_2b"] }],
    ['channel:""', { channel: "", logs: false, runs: "none" }],
    ["channel:orders", { channel: "orders", logs: false, runs: "none" }],
    ["after:-2h", { afterMs: now - 2 * hour }],
    ["after:2h before:-30m", { afterMs: now - 2 * hour, beforeMs: now - hour / 2 }],
    ["after:2027-01-30", { afterMs: Date.UTC(2027, 0, 30) }],
    ["after:2027-01-30T10:00", { afterMs: Date.UTC(2027, 0, 30, 10) }],
    ["after:2027-01-30T10:00:05.5+01:00", { afterMs: Date.UTC(2027, 0, 30, 9, 0, 5, 500) }],
    ['before:"2027-01-30 10:00Z"', { beforeMs: Date.UTC(2027, 0, 30, 10) }],
    [
      'level:error source:stripe* status:failed "negative stock" after:-2h',
      {
        words: ["negative stock"],
        levels: ["error"],
        sources: ["stripe*"],
        statuses: ["failed"],
        afterMs: now - 2 * hour,
        events: false,
        runs: "failed",
      },
    ],
  ])("%s is read", (text, expected) => {
    expect(parse(text)).toEqual({ ...all, ...expected });
  });

  test.each<[string, number, RegExp]>([
    ['a "b', 3, /does not end/],
    ['"a"b', 4, /a space must follow/],
    ["a lvel:error", 3, /'lvel' is no field: did you mean level\?/],
    ["https://example.com", 1, /'https' is no field: use kind, .*in quotes/],
    ["level:fatal", 1, /level 'fatal' is unknown: use error, warn/],
    ["kind:", 1, /kind has no value/],
    ["kind:event,", 1, /kind '' is unknown/],
    ["status:failed status:canceled", 15, /twice: write status:one,other/],
    ["a -level:error", 3, /only words can be excluded/],
    ["run:abc", 1, /must be an id that begins with r_/],
    ["channel:", 1, /channel:"" for the default channel/],
    ["channel:$logs", 1, /kind:log instead/],
    ["channel:a level:error", 1, /leave one of them out/],
    ["kind:event level:error", 12, /leave one of them out/],
    ["after:yesterday", 1, /time 'yesterday' is invalid: write an age/],
    ["after:2027-02-30", 1, /time '2027-02-30' is invalid/],
    ["after:-2y", 1, /is invalid/],
    ["after:-1h before:-2h", 11, /before must be later than after/],
    ['""', 1, /a phrase needs a character/],
    ["a\0b", 1, /U\+0000/],
    ["source:a,,b", 1, /source needs an id or a name/],
    [`x ${"y".repeat(201)}`, 3, /more than 200 characters/],
    ["z ".repeat(maxTerms + 1), 2 * maxTerms + 1, /more than 20 terms/],
    ["z".repeat(maxQueryLength + 1), maxQueryLength + 1, /more than 1000 characters/],
  ])("%s is refused at character %d", (text, position, message) => {
    const refusal = refused(text);
    expect(refusal.position).toBe(position);
    expect(refusal.message).toMatch(message);
  });

  /** Method: words of any characters, quoted as the grammar says, are read as they are. */
  test("reads every phrase that is quoted", () => {
    const phrase = fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "" && !text.includes("\0"));
    const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`;
    fc.assert(
      fc.property(fc.array(phrase, { maxLength: 10 }), fc.array(phrase, { maxLength: 10 }), (words, excluded) => {
        const text = [...words.map(quoted), ...excluded.map((word) => `-${quoted(word)}`)].join(" ");
        const lower = (list: readonly string[]): string[] => list.map((word) => word.toLowerCase());
        expect(parse(text)).toEqual({ ...all, words: lower(words), excluded: lower(excluded) });
      }),
    );
  });

  /** Hostile text is read or refused with a position within it, and never fails in another way. */
  test("is read, or refused at one of its characters", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom('"', "\\", "-", ":", " ", ",", "kind:", "after:", "level:error", "source:*", "status:", "channel:", ...searchKinds),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        try {
          parse(text);
        } catch (error) {
          if (!(error instanceof Malformed)) throw error;
          const { position } = error.details as { position: number };
          expect(position).toBeGreaterThanOrEqual(1);
          expect(position).toBeLessThanOrEqual(Math.max(1, text.length));
        }
      }),
      { numRuns: 500 },
    );
  });
});

test("a live search takes every term but before, and says where that is", () => {
  expect(parseLiveSearch("stock after:-2h", 7_200_000)).toEqual(parseSearch("stock after:-2h", 7_200_000));
  expect(() => parseLiveSearch("stock before:-2h", 0)).toThrow(
    "the query is invalid at character 7: a live search finds what is new: leave out before",
  );
  expect(() => parseLiveSearch('"before:-2h" level:fatal', 0)).toThrow("level 'fatal' is unknown");
});
