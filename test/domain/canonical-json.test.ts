import { expect, it } from "vitest";
import { canonicalJson } from "../../domain/canonical-json.ts";

it.each<[string, unknown, unknown]>([
  ["fields of an object", { a: 1, b: 2 }, { b: 2, a: 1 }],
  ["fields further in, also within lists", { a: [{ b: 1, c: { d: 1, e: 2 } }] }, { a: [{ c: { e: 2, d: 1 }, b: 1 }] }],
  ["fields named like numbers", { 10: 1, 9: 2 }, { 9: 2, 10: 1 }],
  ["a field that is undefined and one that is absent", { a: 1, b: undefined }, { a: 1 }],
])("returns the same text for any order: %s", (_, one, other) => {
  expect(canonicalJson(one)).toBe(canonicalJson(other));
});

it.each<[string, unknown, unknown]>([
  ["the order of a list", [1, 2], [2, 1]],
  ["a number and its text", { a: 1 }, { a: "1" }],
  ["null and an absent field", { a: null }, {}],
  ["a list and an object", [1], { 0: 1 }],
])("returns different texts for %s", (_, one, other) => {
  expect(canonicalJson(one)).not.toBe(canonicalJson(other));
});
