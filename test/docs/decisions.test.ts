import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../../docs/decisions");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const files = readdirSync(folder).filter((file) => /^\d{4}-/.test(file));

describe("docs/decisions", () => {
  it("lists every record with its title, in order", () => {
    const rows = files.toSorted().map((file) => {
      const [, number, title] = /^# (\d{4})\. (.+)$/m.exec(read(file)) ?? [];
      expect(file.slice(0, 4), `the number in the title of ${file}`).toBe(number);
      return `| [${number}](${file}) | ${title} |`;
    });
    expect(
      read("README.md")
        .split("\n")
        .filter((line) => line.startsWith("| [")),
    ).toEqual(rows);
  });

  it.each(files)("%s has a status and a decision in at most 40 lines", (file) => {
    const text = read(file);
    expect(text).toMatch(/^Status: (accepted|replaced by \[\d{4}\]\(.+\)), \d{4}-\d{2}-\d{2}$/m);
    expect(text).toMatch(/^## Decision$/m);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  });
});
