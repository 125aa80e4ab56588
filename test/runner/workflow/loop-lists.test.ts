import { afterEach, expect, test, vi } from "vitest";
import { controlLimits } from "../../../domain/workflow/control.ts";
import { LoopLists } from "../../../runner/workflow/loop-lists.ts";

afterEach(() => vi.restoreAllMocks());

/** A list of the largest size that a loop takes, unlike the others. */
const largest = (number: number): string => JSON.stringify([number, "x".repeat(controlLimits.listBytes - 10)]);

test("gives items of lists, and null where there is none", () => {
  const lists = new LoopLists();
  expect([0, 1, 2].map((index) => lists.item('[{"a":1},null]', index))).toEqual(['{"a":1}', "null", "null"]);
  expect(lists.item("[]", 0)).toBe("null");
});

test("parses a list once while its loops go on, however many lists there are beside it within the limit", () => {
  const parse = vi.spyOn(JSON, "parse");
  const lists = new LoopLists();
  for (let index = 0; index < 100; index++) for (const list of ["[1,2]", "[3]", largest(1), largest(2)]) lists.item(list, index);
  expect(parse).toHaveBeenCalledTimes(4);
});

test("forgets the list that was used longest ago beyond four of the largest", () => {
  const parse = vi.spyOn(JSON, "parse");
  const lists = new LoopLists();
  const many = [1, 2, 3, 4, 5].map(largest);
  for (const list of many) lists.item(list, 0);
  parse.mockClear();
  expect(lists.item(many[4] ?? "", 0)).toBe("5");
  expect(parse).toHaveBeenCalledTimes(0);
  expect(lists.item(many[0] ?? "", 0)).toBe("1");
  expect(parse).toHaveBeenCalledTimes(1);
});
