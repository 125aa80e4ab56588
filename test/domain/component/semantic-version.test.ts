import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { compareVersions, currentVersion, parseSemanticVersion } from "../../../domain/component/semantic-version.ts";

const parsed = (text: string) => {
  const version = parseSemanticVersion(text);
  if (version === undefined) throw new Error(`${text} is no semantic version`);
  return version;
};
const compare = (a: string, b: string): number => Math.sign(compareVersions(parsed(a), parsed(b)));

it.each([
  "1",
  "1.2",
  "v1.2.3",
  "1.2.3.4",
  "01.2.3",
  "1.2.3-",
  "1.2.3-01",
  "1.2.3-a..b",
  "1.2.3+build",
  " 1.2.3",
  "1.2.3\n",
  `1.2.${"3".repeat(65)}`,
  "",
])("refuses %j", (text) => expect(parseSemanticVersion(text)).toBeUndefined());

test("orders the examples of semver.org", () => {
  const ordered = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "2.0.0",
    "2.1.0",
    "2.1.1",
    "10.0.0",
  ];
  for (const [index, a] of ordered.entries())
    for (const [other, b] of ordered.entries()) expect([a, b, compare(a, b)]).toEqual([a, b, Math.sign(index - other)]);
});

test("orders releases like their numbers", () => {
  const numbers = fc.tuple(fc.nat(), fc.nat(), fc.nat());
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const difference = a.map((part, index) => part - (b[index] ?? 0)).find((part) => part !== 0) ?? 0;
      expect(compare(a.join("."), b.join("."))).toBe(Math.sign(difference));
    }),
  );
});

describe("the version that a key stands for", () => {
  const current = (...versions: readonly string[]): string | undefined =>
    currentVersion(versions.map((text) => ({ version: text.replace("!", ""), deprecated: text.endsWith("!") ? "old" : null })))?.version;

  it.each([
    [["1.9.0", "1.10.0", "1.2.0"], "1.10.0"],
    [["1.0.0", "2.0.0-beta.1"], "1.0.0"],
    [["1.0.0-beta.1", "1.0.0-beta.2"], "1.0.0-beta.2"],
    [["1.0.0", "2.0.0!"], "1.0.0"],
    [["1.0.0!", "2.0.0-beta.1"], "2.0.0-beta.1"],
    [["1.0.0!", "2.0.0!"], "2.0.0"],
    [[], undefined],
  ])("of %j is %s", (versions, expected) => expect(current(...versions)).toBe(expected));
});
