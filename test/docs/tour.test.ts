import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * The tours in docs/architecture.md are true. Each stop names a file, something that it declares, and how one gets
 * there: from a file that imports it, from a wiring file that connects it to the role, by a protocol that both sides import, or by a
 * subject that an earlier stop publishes on.
 */
const root = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
const maxFiles = 40;
/** Title of each tour, the largest number of its stops, and folders that it visits. */
const tours = [
  { title: "The tour of one event", maxStops: 35, visits: ["ingress", "runner", "delivery", "platform"] },
  { title: "The tour from `kubectl apply` to Ready", maxStops: 35, visits: ["operator", "builder", "platform"] },
  { title: "The tour of a workflow run", maxStops: 35, visits: ["ingress", "runner", "delivery", "platform"] },
];
const streamOf: Readonly<Record<string, string>> = { "streams.invocations": "invokeSubject", "streams.runs": "runSubject" };

interface Stop {
  readonly file: string;
  readonly name: string;
  readonly link: string;
  /** Files or a stream that the link names. */
  readonly from: readonly string[];
}

describe.each(tours)("$title", ({ title, maxStops, visits }) => {
  const stops = parseStops(title);

  it("has stops in each role that it passes", () => {
    expect([...new Set(stops.map(({ file }) => file.split("/")[0]))]).toEqual(expect.arrayContaining(visits));
  });

  it.each(stops)("names what $file declares: $name", ({ file, name }) => {
    const pattern = new RegExp(`^\\s*(?:export )?(?:async )?(?:function\\*? |class |const |#)?${name}\\b|\\b${name}\\(`, "m");
    expect(textOf(file)).toMatch(pattern);
  });

  it.each(stops)("reaches $file as it says", (stop) => {
    expect(isReached(stop, stops.slice(0, stops.indexOf(stop)))).toBe(true);
  });

  it(`has at most ${maxStops} stops in ${maxFiles} files`, () => {
    expect(stops.length).toBeLessThanOrEqual(maxStops);
    const linked = stops.flatMap(({ from }) => from.filter((each) => each.endsWith(".ts")));
    const files = new Set([...stops.map(({ file }) => file), ...linked]);
    expect(files.size).toBeLessThanOrEqual(maxFiles);
  });
});

it("are all of the tours of the page", () => {
  expect([...page.matchAll(/^## (The tour .*)$/gm)].map(([, title]) => title)).toEqual(tours.map(({ title }) => title));
});

function parseStops(title: string): readonly Stop[] {
  const [, text = ""] = page.split(`\n## ${title}\n`);
  const [section = ""] = text.split("\n## ");
  const items = section.split(/\n(?=\d+\. )/).slice(1);
  return items.map((item) => {
    const [, head = ""] = /^\d+\. ([^:]*):/.exec(item.replace(/\s+/g, " ")) ?? [];
    const [file = "", name = "", ...from] = [...head.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted ?? "");
    const [link = ""] = /called from|wired in|reads|shares the protocol/.exec(head) ?? [];
    return { file, name, link, from };
  });
}

function isReached({ file, link, from: [from = "", subject = ""] }: Stop, earlier: readonly Stop[]): boolean {
  if (link === "reads")
    return (
      streamOf[from] === subject &&
      textOf(file).includes(from) &&
      earlier.some((stop) => new RegExp(`\\b${subject}\\(`).test(textOf(stop.file)))
    );
  if (link === "shares the protocol") return imports(file, from) && earlier.some((stop) => reaches(stop.file, from));
  if (link === "wired in") return reaches(from, file);
  return link === "called from" && imports(from, file);
}

function imports(from: string, to: string): boolean {
  return importsOf(from).includes(to);
}

/** Imports, also through other files. */
function reaches(from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const file of seen) for (const next of importsOf(file)) seen.add(next);
  return seen.has(to);
}

function importsOf(file: string): readonly string[] {
  const found = textOf(file).matchAll(/^(?:import|export)\s[^;"]*?from "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm);
  const specifiers = [...found].map(([, specifier, lazy]) => specifier ?? lazy ?? "");
  return specifiers.map((specifier) => relative(root, join(root, dirname(file), specifier)));
}

function textOf(file: string): string {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
