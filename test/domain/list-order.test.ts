import { describe, expect, test } from "vitest";
import { formatPosition, listSorts, orderOf, parsePosition, sortValues } from "../../domain/list-order.ts";
import { cursorOf, idOfCursor } from "../../domain/page.ts";

describe("the order of a list", () => {
  test("is newest first without `sort`, and descending with `-`", () => {
    expect(orderOf(undefined)).toEqual({ by: "created_at", isDescending: true });
    expect(sortValues.map(orderOf)).toEqual(listSorts.flatMap((by) => [false, true].map((isDescending) => ({ by, isDescending }))));
  });
});

describe("a position in a cursor", () => {
  test.each(["", "ada", "Émile 😀", `"quoted" \\`, "x".repeat(200), "😀".repeat(200)])("is the same after a round trip: %j", (value) => {
    const cursor = cursorOf(formatPosition("name", { value, name: "dc-1" }), "position");
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(parsePosition("name", idOfCursor(cursor, "position"))).toEqual({ value, name: "dc-1" });
  });

  test.each([
    `["updated_at","1","a"]`,
    `["name","a"]`,
    `["name","a","b","c"]`,
    `["name",1,"b"]`,
    `["name","a\\u0000","b"]`,
    `["name","\\ud800","b"]`,
    `["name","${"x".repeat(401)}","b"]`,
    `["name","a","${"x".repeat(254)}"]`,
    "null",
    "{",
    "",
  ])("of another list or of an attacker is refused: %.40s", (text) => {
    expect(() => parsePosition("name", text)).toThrow("use one that page_info gave for a list with the same sort");
  });

  test.each(["", "1.5", "1e9", "x", "12345678901234567"])("by a time is whole milliseconds, and not '%s'", (value) => {
    expect(() => parsePosition("updated_at", formatPosition("updated_at", { value, name: "a" }))).toThrow("sort=updated_at");
  });
});
