import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { maxAttempts, nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { describeConfiguration } from "../../platform/process/settings/configuration.ts";
import { pages } from "../e2e/support/documented-pages.ts";
import { blocksOf } from "../e2e/support/documented-session.ts";

const root = join(import.meta.dirname, "..", "..");
const quotedFiles = pages.flatMap(blocksOf).filter(({ title }) => title !== "");
/** The command line reads a few variables of its own. */
const commandLineSource = globSync("cli/**/*.ts", { cwd: root })
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

describe("the documentation", () => {
  it.each(quotedFiles)("$page:$line quotes $title", ({ title, text }) => {
    expect(readFileSync(join(root, title), "utf8")).toContain(text);
  });

  it("lists the waits of the retry schedule", () => {
    const rows = [...readFileSync(join(root, "docs/delivery.md"), "utf8").matchAll(/^\| (\d+) \| (\d+) (s|min|h) \|/gm)];
    const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const documented = rows.map(([, attempt, wait, unit = ""]) => [Number(attempt), Number(wait) * (units[unit] ?? 0)]);
    const actual = Array.from({ length: maxAttempts - 1 }, (_, index) => [index + 2, nextAttempt(index + 1, 0.5)]);
    expect(documented).toEqual(actual);
  });

  it.each(pages)("%s only names existing settings", (page) => {
    const names = readFileSync(join(root, page), "utf8").match(/\bHEADWATER_(?!TEST_)[A-Z_]*[A-Z]\b/g) ?? [];
    const settings = describeConfiguration() + commandLineSource;
    expect(names.filter((name) => !settings.includes(name))).toEqual([]);
  });
});
