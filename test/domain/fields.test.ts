import fc from "fast-check";
import { expect, test } from "vitest";
import { selectFields } from "../../domain/fields.ts";

const name = fc.stringMatching(/^[a-z_]{1,6}$/);
const names = fc.uniqueArray(name, { maxLength: 4 });

test("a field stays when it is included, or nothing is, and it is not excluded", () => {
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), names, names, (item, include, exclude) => {
      const kept = selectFields(item, { include: include.join(" , "), exclude: exclude.join(",") });
      for (const key of Object.keys(item))
        expect(key in kept).toBe((include.length === 0 || include.includes(key)) && !exclude.includes(key));
      for (const [key, value] of Object.entries(kept)) expect(value).toBe(item[key]);
    }),
  );
});

test("without include and exclude the item is untouched", () => {
  const item = { id: "dc_1" };
  expect(selectFields(item, {})).toBe(item);
  expect(selectFields(item, { include: "", exclude: " , " })).toBe(item);
});
