import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cursorOf, idOfCursor, pageInfo, pageOf, parsePageQuery, type PageRequest } from "../../domain/page.ts";

const ids = fc.uniqueArray(
  fc.stringMatching(/^[0-9a-z]{1,8}$/).map((text) => `dc_${text}`),
  { maxLength: 60 },
);
const self = (id: string): string => id;

/** Follows cursors from one end of the list to the other. */
function walk(list: readonly string[], limit: number, side: "after" | "before"): readonly string[][] {
  const pages: string[][] = [];
  let request: PageRequest = { limit, cursor: null };
  if (side === "before" && list.length > 0) request = { limit, cursor: { side, id: list.at(-1) ?? "" } };
  for (;;) {
    const page = pageOf(list, self, request);
    const info = pageInfo(page, list.length);
    const cursor = side === "after" ? info.end_cursor : info.start_cursor;
    if (cursor === null) return pages;
    pages.push([...page]);
    request = parsePageQuery({ limit, [side]: cursor });
  }
}

describe("pages", () => {
  test("following end_cursor forwards returns the whole list, each item once", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 20 }), (list, limit) => {
        const pages = walk(list, limit, "after");
        expect(pages.flat()).toEqual(list);
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
      }),
    );
  });

  test("following start_cursor backwards returns all items before the last page, in list order within each page", () => {
    fc.assert(
      fc.property(ids, fc.integer({ min: 1, max: 20 }), (list, limit) => {
        expect(walk(list, limit, "before").toReversed().flat()).toEqual(list.slice(0, -1));
      }),
    );
  });

  test("a cursor of either form decodes to its id", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-z]{1,57}$/), fc.nat(), fc.nat(), (rest, ms, sequence) => {
        expect(idOfCursor(cursorOf(`dc_${rest}`, "resource"), "resource")).toBe(`dc_${rest}`);
        expect(cursorOf(`dc_${rest}`, "resource")).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(idOfCursor(cursorOf(`${ms}-${sequence}`, "event"), "event")).toBe(`${ms}-${sequence}`);
      }),
    );
    expect(cursorOf("dc_1", "resource")).toBe("ZGNfMQ");
  });

  test("any other text is refused as a cursor", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(idOfCursor(text, "resource")).toMatch(/^[A-Za-z]+_[A-Za-z0-9]+$/);
        } catch (error) {
          expect(error).toMatchObject({ status: 422, code: "invalid_cursor" });
        }
      }),
    );
  });

  test("limit is 10 unless given and at most 100", () => {
    expect(parsePageQuery({})).toEqual({ limit: 10, cursor: null });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (limit) => {
        expect(parsePageQuery({ limit }).limit).toBe(Math.min(limit, 100));
        expect(parsePageQuery({ limit: String(limit) }).limit).toBe(Math.min(limit, 100));
      }),
    );
  });

  test.each(["0", 0, -1, "-1", "1.5", 1.5, "ten", "", " ", "1e2", "0x10", Number.NaN])("limit %j is refused", (limit) => {
    expect(() => parsePageQuery({ limit })).toThrow(/must be an integer from 1 to 100/);
  });

  test("both cursors at once, and a cursor of a deleted item, are refused", () => {
    expect(() => parsePageQuery({ after: "ZGNfMQ", before: "ZGNfMQ" })).toThrow("after and before are both set: use one of them");
    expect(() => pageOf(["dc_1"], self, { limit: 1, cursor: { side: "after", id: "dc_2" } })).toThrow("begin again");
  });

  test("an empty page has null cursors", () => {
    expect(pageInfo([], 7)).toEqual({
      total_count: 7,
      count: 0,
      start_cursor: null,
      end_cursor: null,
      excluded_count: 0,
    });
  });
});
