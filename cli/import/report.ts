import type { Converted } from "./convert.ts";

export interface Imported extends Converted {
  readonly name: string;
  readonly folder: string;
  readonly file: string;
}

/** Markdown, for people: what runs as it is, then what needs a hand, the required things first. */
export function reportOf(imported: readonly Imported[]): string {
  const ready = imported.filter(({ tasks }) => tasks.every(({ isRequired }) => !isRequired)).length;
  return [
    `# Import of ${imported.length} workflow${imported.length === 1 ? "" : "s"}: ${ready} can run as they are`,
    ...imported.flatMap(sectionOf),
    "",
  ].join("\n");
}

function sectionOf({ name, folder, file, asIs, tasks }: Imported): readonly string[] {
  const line = ({ what, why, how }: Converted["tasks"][number]): string => `- ${what}: ${why}. To do: ${how}.`;
  const [required, others] = [tasks.filter(({ isRequired }) => isRequired), tasks.filter(({ isRequired }) => !isRequired)];
  return [
    "",
    `## ${name}`,
    `From ${folder === "" ? "the folder itself" : folder}, in ${file}.`,
    ...list(
      "Runs as it is:",
      asIs.map((text) => `- ${text}`),
    ),
    ...list("Needs a hand before it can run:", required.map(line)),
    ...list("To check:", others.map(line)),
  ];
}

const list = (title: string, lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ["", title, "", ...lines]);
