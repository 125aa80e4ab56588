import { describe, expect, it } from "vitest";
import { createStackMapper } from "../../builder/bundle/source-map.ts";
import { withPlainRequire } from "../../builder/created-require.ts";
import { withFilesBeside } from "../../builder/read-beside.ts";

/** Components and packages that attack the builder: they keep it from others, or have it tell what lies on its disk. */
const megabyte = (piece: string): string => piece.repeat(2 ** 20 / piece.length);

/** Quadratic, a megabyte of these took from fifteen minutes to half a day of a core; now none takes a second. */
const isQuick = (work: (text: string) => unknown, piece: string, before: string): boolean => {
  const start = process.cpuUsage();
  work(before + megabyte(piece));
  const { user, system } = process.cpuUsage(start);
  return user + system < 20_000_000;
};

describe("texts that are looked through by patterns", () => {
  const making = "createRequire(import.meta.url);";
  it.each([
    ["one word", "a", making],
    ["a word again and again", "createRequire", ""],
    ["words with signs", "a$", making],
    ["assignments", "a=", making],
    ["comments that do not end", "a=/*", making],
    ["spaces", " ", `${making}a`],
  ])("take no longer for their shape: requires of %s", { timeout: 60_000 }, (_, piece, before) => {
    expect(isQuick(withPlainRequire, piece, before)).toBe(true);
  });

  it.each([
    ["words with signs", "a$", "readFileSync("],
    ["paths", "path", "x.readFileSync("],
    ["calls", "x.readFileSync(path", ""],
    ["quotes", `x.readFileSync(__dirname+"`, ""],
    ["spaces", " ", "x.readFileSync("],
  ])("take no longer for their shape: files beside in %s", { timeout: 60_000 }, (_, piece, before) => {
    expect(isQuick(withFilesBeside, piece, before)).toBe(true);
  });

  it("of a stack are lines that a frame can have", () => {
    const mapper = createStackMapper(JSON.stringify({ version: 3, sources: ["a.mjs"], names: [], mappings: "AAAA" }));
    expect(mapper.mapStack("Error: x\n    at f (component.js:1:1)")).toBe("Error: x\n    at f (a.mjs:1:1)");
    expect(mapper.mapStack(`Error: x\n    at ${" (".repeat(4_000)}:${"1".repeat(4_000)}`)).toBe("Error: x");
  });
});
