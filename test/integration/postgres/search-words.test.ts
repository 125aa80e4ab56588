import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { matchTexts } from "../../../domain/search/match.ts";
import { itemOf } from "../../../domain/search/texts.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { containsWords } from "../../../platform/postgres/search/patterns.ts";
import { withPostgres } from "../../support/postgres.ts";

/**
 * The rough comparison of words in Postgres. Oracle: `matchTexts`, which compares exactly. Postgres may find more, but must not leave out what
 * it accepts.
 */
const postgres = withPostgres();
let database: Database;
beforeAll(() => {
  database = createDatabase({ url: postgres.url });
});
afterAll(() => database.close());

async function foundIn(texts: readonly string[], words: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select text from unnest(${texts}::text[]) as given (text) where ${containsWords(sql`text`, words)}`.execute(database.db);
  return rows.map(({ text }) => text);
}

const characters = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code));

test("finds every letter of Unicode by its lower case, and by each letter of that", async () => {
  const capitals = characters.filter((character) => character.toLowerCase() !== character);
  expect(capitals.length).toBeGreaterThan(1_400);
  const byWord = Map.groupBy(
    capitals.flatMap((capital) =>
      [capital.toLowerCase(), ...Array.from(capital.toLowerCase())].map((word) => ({ word, text: `a${capital}b` })),
    ),
    ({ word }) => word,
  );
  const missed: string[] = [];
  for (const [word, given] of byWord) {
    const texts = given.map(({ text }) => text).filter((text) => matchTexts([{ text }], { words: [word], excluded: [] }) !== undefined);
    const found = new Set(await foundIn(texts, [word]));
    missed.push(...texts.filter((text) => !found.has(text)).map((text) => `${word} in ${text}`));
  }
  expect(missed).toEqual([]);
});

const samples = [
  "İSTANBUL'da Negatif Stok",
  "300 \u212A, 5 \u212Bngström, 10 k\u2126, \u03F4eta, \u01C5ep",
  "ΟΔΟΣ ὈΔΥΣΣΕΎΣ Straße STRASSE ẞ",
  "Müller ÉTÉ ﬁn 100%_\\ Ａｂｃ 𐐀 😀",
  'say "NO"\n\tagain: never',
];

test("finds whatever part of a text matches it, as text and in JSON", async () => {
  const wordsOf = (text: string): readonly string[] =>
    Array.from(text.toLowerCase(), (_, at) => [1, 2, 5].map((length) => text.toLowerCase().slice(at, at + length))).flat();
  const texts = samples.flatMap((text) => [
    { stored: text, searched: { text } },
    { stored: JSON.stringify(text), searched: { text: JSON.stringify(text), isJson: true } },
  ]);
  let matches = 0;
  for (const word of new Set(samples.flatMap(wordsOf))) {
    const found = new Set(
      await foundIn(
        texts.map(({ stored }) => stored),
        [word],
      ),
    );
    for (const { stored, searched } of texts) {
      if (matchTexts([searched], { words: [word], excluded: [] }) === undefined) continue;
      matches++;
      expect(found, `${JSON.stringify(word)} in ${stored}`).toContain(stored);
    }
  }
  expect(matches).toBeGreaterThan(300);
});

test("finds an error by its name and message together, which are stored apart", async () => {
  const body = JSON.stringify({ error: { name: "TypeError", message: "negative stock" } });
  const { texts } = itemOf({
    at: 0,
    table: "runs",
    emitter: "dc_1",
    number: 1,
    run: "r_1",
    status: "failed",
    channel: null,
    line: null,
    head: null,
    body,
  });
  for (const word of ["typeerror: negative", "typeerror:", ": negative", " negative"]) {
    expect(matchTexts(texts, { words: [word], excluded: [] }), word).toBeDefined();
    expect(await foundIn([body], [word]), word).toEqual([body]);
  }
});

test("leaves out what does not contain the words", async () => {
  expect(await foundIn(["negative stock", "positive stock", "Stock"], ["negative", "stock"])).toEqual(["negative stock"]);
  expect(await foundIn(["100%", "100x"], ["100%"])).toEqual(["100%"]);
});
