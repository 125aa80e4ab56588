import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchTexts, maxExcerpt } from "../../../domain/search/match.ts";

const ask = (words: readonly string[], excluded: readonly string[] = []) => ({ words, excluded });

describe("texts", () => {
  test("match if together they contain all words and none of the excluded ones, in any letter case", () => {
    const texts = [{ text: "Stock of Müller" }, { text: '{"note":"say \\"NO\\"\\n"}', isJson: true }];
    expect(matchTexts(texts, ask(["müller", "note"]))).toBe("Stock of Müller");
    expect(matchTexts(texts, ask(['"no"\n']))).toBe('{"note":"say \\"NO\\"\\n"}');
    expect(matchTexts(texts, ask(["stock", "absent"]))).toBeUndefined();
    expect(matchTexts(texts, ask(["stock"], ["note"]))).toBeUndefined();
    expect(matchTexts([{ text: "" }, { text: "second" }], ask([]))).toBe("second");
    expect(matchTexts([], ask([]))).toBe("");
  });

  test("have an excerpt of one line around the first match", () => {
    const text = `${"a ".repeat(400)}the\n\tneedle ${"b ".repeat(400)}`;
    const found = matchTexts([{ text }], ask(["needle"])) ?? "";
    expect(found).toMatch(/^…(?:a )+the needle (?:b )+b?…$/);
    expect(found.length).toBeLessThanOrEqual(maxExcerpt);
  });

  /** Oracle: the text contains the word. Method: words cut from texts of any characters, also as JSON. */
  test("match every word that was cut from them, and have a bounded, well-formed excerpt", () => {
    const text = fc.string({ unit: "binary", maxLength: 600 });
    fc.assert(
      fc.property(text, fc.nat(600), fc.integer({ min: 1, max: 20 }), fc.boolean(), (whole, from, length, isJson) => {
        const word = Array.from(whole)
          .slice(from, from + length)
          .join("")
          .toLowerCase();
        fc.pre(word !== "");
        fc.pre(whole.toLowerCase().includes(word));
        const searched = isJson ? { text: JSON.stringify(whole), isJson } : { text: whole };
        const found = matchTexts([searched], ask([word]));
        expect(found).toBeDefined();
        expect(found?.length).toBeLessThanOrEqual(maxExcerpt);
        expect(found?.isWellFormed()).toBe(true);
        expect(matchTexts([searched], ask([], [word]))).toBeUndefined();
      }),
    );
  });
});
