import type { Converted } from "./convert.ts";

export interface Imported extends Converted {
  readonly name: string;
  /** Where it comes from: a folder of an export, or an id of the service. */
  readonly origin: string;
  readonly file: string;
}

/** Markdown, for people: what runs as it is, then what needs a hand, the required things first. */
export function reportOf(imported: readonly Imported[]): string {
  const ready = imported.filter(({ tasks }) => tasks.every(({ isRequired }) => !isRequired)).length;
  return [`# Import of ${countOf(imported)}: ${ready} can run as they are`, ...imported.flatMap(sectionOf), ""].join("\n");
}

/** `2 workflows`, `1 source, 2 webhooks` */
function countOf(imported: readonly Imported[]): string {
  const byKind = Map.groupBy(imported, ({ manifest }) => String(manifest["kind"]).toLowerCase());
  return [...byKind].map(([kind, { length }]) => `${length} ${kind}${length === 1 ? "" : "s"}`).join(", ");
}

function sectionOf({ name, origin, file, asIs, tasks }: Imported): readonly string[] {
  const line = ({ what, why, how }: Converted["tasks"][number]): string => `- ${what}: ${why}. To do: ${how}.`;
  const [required, others] = [tasks.filter(({ isRequired }) => isRequired), tasks.filter(({ isRequired }) => !isRequired)];
  return [
    "",
    `## ${name}`,
    `From ${origin === "" ? "the folder itself" : origin}, in ${file}.`,
    ...list(
      "Runs as it is:",
      asIs.map((text) => `- ${text}`),
    ),
    ...list("Needs a hand before it can run:", required.map(line)),
    ...list("To check:", others.map(line)),
  ];
}

const list = (title: string, lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ["", title, "", ...lines]);
