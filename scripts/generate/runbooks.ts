import { readFileSync } from "node:fs";
import { join } from "node:path";

type Block = readonly [kind: "paragraph" | "title" | "item", text: string];

/** The sections of docs/runbooks.md for the console, which shows them beside a problem: an installation may have no other copy at hand. */
export function consoleRunbooks(root: string): string {
  const page = readFileSync(join(root, "docs/runbooks.md"), "utf8");
  const sections = page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = "", ...lines] = section.split("\n");
      return { name, blocks: blocksOf(lines.join("\n")) };
    });
  return `// Written by \`npm run generate\` from docs/runbooks.md. Changes go there.
export interface Runbook {
  readonly name: string;
  readonly blocks: readonly (readonly [kind: "paragraph" | "title" | "item", text: string])[];
}
export const runbooks: readonly Runbook[] =
  ${JSON.stringify(sections)};
`;
}

/** @param text paragraphs, titles of their own line in bold, and lists */
function blocksOf(text: string): readonly Block[] {
  const parts = text.split(/\n\n|\n(?=- )|(?<=^\*\*\w+\*\*)\n/m);
  return parts.map((part) => part.replaceAll(/\s+/g, " ").trim()).flatMap((part) => (part === "" ? [] : [blockOf(part)]));
}

function blockOf(part: string): Block {
  const title = /^\*\*(.+)\*\*$/.exec(part)?.[1];
  if (title !== undefined) return ["title", plain(title)];
  return part.startsWith("- ") ? ["item", plain(part.slice(2))] : ["paragraph", plain(part)];
}

/** Without links and emphasis; code keeps its backticks. Links to other pages name the page. */
const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, "$1")
    .replaceAll(/\[([^\]]+)\]\(([^)#]*)(?:#[^)]*)?\)/g, "$1 (docs/$2)")
    .replaceAll(/(?<!\*)\*([^*]+)\*(?!\*)/g, "$1");
