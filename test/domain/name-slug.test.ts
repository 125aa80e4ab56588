import fc from "fast-check";
import { expect, test } from "vitest";
import { nameSlug, uniqueSlug } from "../../domain/name-slug.ts";

test.each([
  ["New Item in Feed", "new-item-in-feed"],
  ["  Crème brûlée!  ", "creme-brulee"],
  ["Straße № 5", "strasse-no-5"],
  ["RSS — v2.0", "rss-v2-0"],
  ["日本", "source"],
  ["", "source"],
  ["Łódź", "lodz"],
])("%j becomes %j", (name, slug) => {
  expect(nameSlug(name)).toBe(slug);
});

test("a slug is words of letters and digits, and its own slug", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 100 }), (name) => {
      const slug = nameSlug(name);
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(slug.length).toBeLessThanOrEqual(60);
      expect(nameSlug(slug)).toBe(slug);
    }),
  );
});

test("the nth of the same name gets -n", () => {
  const taken = new Set<string>();
  const slugs = Array.from({ length: 12 }, () => {
    const slug = uniqueSlug("feed", (each) => taken.has(each));
    taken.add(slug);
    return slug;
  });
  expect(slugs).toEqual(["feed", ...Array.from({ length: 11 }, (_, i) => `feed-${i + 2}`)]);
});
