import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const pages = globSync(["*.md", "docs/*.md", "docs/decisions/*.md"], { cwd: root }).toSorted();

/** The page without its code. */
const proseOf = (page: string): string => readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");

/** Anchors of a page's headings, by the rule of GitHub: lower case, letters, digits, - and _ only, and a number for repetitions. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(page).matchAll(/^#+ (.+)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Links to a heading, also over the end of a line. */
const anchorLinks = (page: string): readonly (readonly [target: string, anchor: string])[] =>
  [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, file = "", anchor = ""]) => [
    file === "" ? page : relative(root, join(root, dirname(page), file)),
    anchor,
  ]);

const fileLinks = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, file = ""]) => file);

describe("links", () => {
  it.each(pages)("of %s lead to files that exist", (page) => {
    expect(fileLinks(page).filter((file) => !existsSync(join(root, dirname(page), file)))).toEqual([]);
  });

  it.each(pages.filter((page) => anchorLinks(page).length > 0))("of %s lead to headings that exist", (page) => {
    const missing = anchorLinks(page).filter(([target, anchor]) => target.endsWith(".md") && !anchorsOf(target).has(anchor));
    expect(missing.map(([target, anchor]) => `${target}#${anchor}`)).toEqual([]);
  });
});
