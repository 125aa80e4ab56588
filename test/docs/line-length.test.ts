import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const maxLineLength = 120;

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) => join("docs", file)),
].filter((file) => file.endsWith(".md"));

/** Lines outside of tables and code blocks, with their numbers. */
function proseOf(text: string): readonly (readonly [number: number, line: string])[] {
  let isCode = false;
  return text.split("\n").flatMap((line, index): readonly (readonly [number, string])[] => {
    const isFence = line.trimStart().startsWith("```");
    if (isFence) isCode = !isCode;
    return isFence || isCode || line.trimStart().startsWith("|") ? [] : [[index + 1, line]];
  });
}

it.each(pages)(`%s has lines of at most ${maxLineLength} characters outside of tables and code`, (page) => {
  const file = join(root, page);
  const long = proseOf(readFileSync(file, "utf8")).filter(([, line]) => line.length > maxLineLength);
  expect(long.map(([number]) => `${relative(root, file)}:${number}`)).toEqual([]);
});
