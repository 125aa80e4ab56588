import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";

/**
 * Every guarantee has a row in test/guarantees.md with the files that show it. A guarantee is a bullet, by its first sentence, or the first
 * cell of a table's row, in the sections below.
 */
const root = join(import.meta.dirname, "../..");
const table = "test/guarantees.md";

interface Page {
  readonly page: string;
  readonly hasGuarantees: (heading: string) => boolean;
}

/** Sections of docs/security.md that say what others may do, or what is not promised. */
const noPromises = ["Who attacks, and what they get", "An account of NATS that others sign", "Not defended"];
const ofDelivery = ["A source is paused or deleted", "Scheduled events", "Order, and what is guaranteed"];

const pages: readonly Page[] = [
  { page: "README.md", hasGuarantees: (heading) => heading === "Guarantees" },
  { page: "docs/delivery.md", hasGuarantees: (heading) => ofDelivery.includes(heading) },
  { page: "docs/connect.md", hasGuarantees: (heading) => heading === "What is guaranteed" },
  { page: "docs/connectors.md", hasGuarantees: (heading) => heading === "What is guaranteed" },
  { page: "docs/security.md", hasGuarantees: (heading) => !noPromises.includes(heading) },
];

const testFiles = globSync("**/*.test.ts", { cwd: join(root, "test") });

it("every guarantee has a row with the files that show it, and the commands that run them", () => {
  const stated = new Map(pages.flatMap(statedIn));
  const written = rowsBySection();
  expect([...stated.keys()].filter((section) => !written.has(section))).toEqual([]);
  const problems = [...written].flatMap(([section, rows]) => problemsOf(section, rows, stated.get(section) ?? []));
  expect(problems, `correct ${table}`).toEqual([]);
});

it("a guarantee without a row, a row without its guarantee, a missing file and a wrong command are found", () => {
  const row = (guarantee: string, shownBy: string, command: string): Row => ({ guarantee, shownBy, command });
  const file = "docs/guarantees.test.ts";
  expect(problemsOf("s", [row("a", `\`${file}\``, "`npm test`")], ["a"])).toEqual([]);
  expect(problemsOf("s", [], ["a"])).toEqual(['s: "a" has no row']);
  expect(problemsOf("s", [row("a", `\`${file}\``, "`npm test`")], [])).toEqual(['s: remove the row "a", which the page no longer says']);
  expect(problemsOf("s", [row("a", "`docs/guarantees.full.test.ts`", "`npm run test:all`")], ["a"])).toEqual([
    `s: "a": there is no docs/guarantees.full.test.ts; write ${file}`,
  ]);
  expect(problemsOf("s", [row("a", `\`${file}\``, "`npm run test:soak`")], ["a"])).toEqual(['s: "a": its command is `npm test`']);
  expect(problemsOf("s", [row("a", "", "")], ["a"])).toEqual(['s: "a": no file shows it']);
});

interface Row {
  readonly guarantee: string;
  readonly shownBy: string;
  readonly command: string;
}

function problemsOf(section: string, rows: readonly Row[], stated: readonly string[]): readonly string[] {
  const missing = stated.filter((each) => !rows.some(({ guarantee }) => guarantee === each)).map((each) => `"${each}" has no row`);
  const stale = rows.filter(({ guarantee }) => !stated.includes(guarantee));
  const removed = stale.map(({ guarantee }) => `remove the row "${guarantee}", which the page no longer says`);
  const wrong = rows.filter((row) => !stale.includes(row)).flatMap((row) => mistakesIn(row).map((each) => `"${row.guarantee}": ${each}`));
  return [...missing, ...removed, ...wrong].map((problem) => `${section}: ${problem}`);
}

function mistakesIn({ shownBy, command }: Row): readonly string[] {
  // A sentence that promises nothing: the last cell says why.
  if (shownBy === "–") return command === "" ? ["say what the sentence is instead of a promise"] : [];
  const files = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file);
  if (files.length === 0) return ["no file shows it"];
  const gone = files.filter((file) => !testFiles.includes(file));
  if (gone.length > 0) return gone.map((file) => `there is no ${file}${replacementOf(file)}`);
  const commands = [...new Set(files.map(commandOf))].map((each) => `\`${each}\``).join(", ");
  return command === commands ? [] : [`its command is ${commands}`];
}

const stemOf = (file: string): string => basename(file).replace(/(\.full|\.soak)?\.test\.ts$/, "");

function replacementOf(file: string): string {
  const found = testFiles.filter((other) => stemOf(other) === stemOf(file));
  return found.length === 0 ? ": name another file that shows it" : `; write ${found.join(" or ")}`;
}

function commandOf(file: string): string {
  if (file.endsWith(".soak.test.ts")) return "npm run test:soak";
  return file.endsWith(".full.test.ts") ? "npm run test:all" : "npm test";
}

/** Sections of a page that state guarantees, with these. */
function statedIn({ page, hasGuarantees }: Page): readonly (readonly [section: string, guarantees: readonly string[]])[] {
  return sectionsOf(page)
    .filter(([heading]) => hasGuarantees(heading))
    .map(([heading, lines]) => [`${page}: ${heading}`, guaranteesIn(lines)] as const)
    .filter(([, guarantees]) => guarantees.length > 0);
}

function sectionsOf(page: string): readonly (readonly [heading: string, lines: readonly string[]])[] {
  const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => part.split("\n"))
    .map(([heading = "", ...lines]) => [heading, lines]);
}

function guaranteesIn(lines: readonly string[]): readonly string[] {
  const bullets = lines.flatMap((line, index) =>
    line.startsWith("- ") ? [firstSentence([line.slice(2), ...continued(lines, index)])] : [],
  );
  return [...bullets, ...cellsIn(lines).map(([first = ""]) => first)];
}

/** The further lines of a bullet. */
function continued(lines: readonly string[], bullet: number): readonly string[] {
  const rest = lines.slice(bullet + 1);
  const end = rest.findIndex((line) => !/^ {2}[^ -]/.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

const firstSentence = (lines: readonly string[]): string => plain(lines.join(" ")).split(/(?<=\S)[.:;](?= |$)/)[0] ?? "";

/** The cells of all tables' rows, without heads. */
function cellsIn(lines: readonly string[]): readonly (readonly string[])[] {
  const isRow = (line: string | undefined): boolean => line?.startsWith("|") ?? false;
  const rows = lines.filter((line, index) => isRow(line) && isRow(lines[index - 1]) && !/^\|[-|]+$/.test(line));
  return rows.map((line) => line.split("|").slice(1, -1).map(plain));
}

const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\s+/g, " ")
    .trim();

function rowsBySection(): ReadonlyMap<string, readonly Row[]> {
  const cells = (line: string): readonly string[] =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const rowsIn = (lines: readonly string[]): readonly Row[] =>
    lines
      .filter((line) => line.startsWith("|") && !line.startsWith("|---") && !line.startsWith("| guarantee |"))
      .map(cells)
      .map(([guarantee = "", shownBy = "", command = ""]) => ({ guarantee: plain(guarantee), shownBy, command }));
  return new Map(sectionsOf(table).map(([heading, lines]) => [heading, rowsIn(lines)] as const));
}
