import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { connectorIndex } from "../domain/component/connector.ts";
import { readApps } from "../platform/process/apps.ts";

/**
 * Writes `console/parts/marks/` from the npm package `simple-icons` (CC0): the marks of the apps of our tables and of connectors, those that
 * it has. Run by hand: `node scripts/import-marks.ts <package>`. The marks stay trademarks of their owners.
 */
const root = join(import.meta.dirname, "..");
const icons = z.array(
  z.looseObject({
    title: z.string(),
    slug: z.string(),
    /** License of an icon that is not CC0. */
    license: z.looseObject({ type: z.string() }).optional(),
    aliases: z.looseObject({ aka: z.array(z.string()).default([]), old: z.array(z.string()).default([]) }).optional(),
  }),
);

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("name the unpacked package: node scripts/import-marks.ts <package>");
const titles = titlesOf(icons.parse(JSON.parse(await readFile(join(directory, "data", "simple-icons.json"), "utf8"))));
const { connectors } = connectorIndex.parse(JSON.parse(await readFile(join(root, "registry", "connectors.json"), "utf8")));
const apps = new Map([
  ...connectors.filter(({ app }) => app !== "").map(({ app, displayName }) => [app, displayName] as const),
  ...[...(await readApps()).values()].map(({ slug, name }) => [slug, name] as const),
]);

const symbols: [slug: string, symbol: string][] = [];
for (const [slug, name] of [...apps].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  const icon = titles.get(plain(name)) ?? titles.get(plain(slug));
  if (icon !== undefined) symbols.push([slug, `<symbol id="${slug}" viewBox="0 0 24 24"><path d="${await shapeOf(icon)}"/></symbol>`]);
}
const marks = join(root, "console", "parts", "marks");
await writeFile(
  join(marks, "marks.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.map(([, text]) => text).join("\n")}\n</svg>\n`,
);
await writeFile(
  join(marks, "slugs.ts"),
  `/** Slugs of the apps in marks.svg. Written by scripts/import-marks.ts. */\nexport const marked: ReadonlySet<string> = new Set([\n${symbols.map(([slug]) => `  "${slug}",\n`).join("")}]);\n`,
);
console.log(`${symbols.length} of ${apps.size} apps have a mark`);

/** Slugs of icons by title and by other names. A title wins over another icon's name. */
function titlesOf(all: z.infer<typeof icons>): ReadonlyMap<string, string> {
  const free = all.filter(({ license }) => license === undefined || license.type === "CC0-1.0");
  const others = free.flatMap(({ slug, aliases }) =>
    [...(aliases?.aka ?? []), ...(aliases?.old ?? [])].map((name) => [name, slug] as const),
  );
  return new Map([...others, ...free.map(({ title, slug }) => [title, slug] as const)].map(([name, slug]) => [plain(name), slug]));
}

/** `Google Sheets`, `google_sheets` → `googlesheets`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

async function shapeOf(icon: string): Promise<string> {
  const shape = /<path d="([\w\s.,-]+)"\/><\/svg>$/.exec(await readFile(join(directory ?? "", "icons", `${icon}.svg`), "utf8"))?.[1];
  if (shape === undefined) throw new Error(`${icon}.svg is not one path`);
  return shape;
}
