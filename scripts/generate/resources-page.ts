import { kinds } from "../../crds/kinds.ts";
import { baseStatus, condition, group, nameMessage, version, type Column, type Kind } from "../../crds/resource.ts";
import { rootSchema } from "./definition.ts";
import { fieldsOf, messagesOf, type Field } from "./fields.ts";
import { structuralSchema } from "./structural.ts";
import { wrap } from "./wrap.ts";

/** docs/resources.md: the content of `kubectl explain` on one page. */
export function resourcesPage(): string {
  return `${[introduction(), ...kinds.map(section)].join("\n\n").split("\n").map(wrap).join("\n")}\n`;
}

function introduction(): string {
  return `<!-- Written by \`npm run generate\` from crds/. Changes go there. -->

# Resources

This page lists every kind and field of \`${group}/${version}\`. \`kubectl explain ${kinds[1].plural}.spec\` does so for the installed version, and
\`kubectl get headwater -A\` lists resources of all kinds. [\`examples/kubernetes\`](examples/kubernetes) has manifests to copy.

${table(["kind", "short name", "description"], kinds.map(overview))}

You write the \`spec\`, directly or over the REST API, which writes the same resources. Headwater writes the \`status\`.
A name has at most 63 lower-case letters, digits and dashes. References by name are to resources of the same namespace, which must belong to an owner
(label \`headwater.dev/owner\`). A resource whose reference does not exist yet waits for it, and reports that in its condition \`Ready\`.

## Status and conditions

Every kind has these:

${fieldTable(fieldsOf(structuralSchema(baseStatus)).filter(({ path }) => !path.startsWith("conditions[]")))}

A condition:

${fieldTable(fieldsOf(structuralSchema(condition)))}

\`kubectl wait --for=condition=Ready source/<name>\` waits until a source runs. [operations.md](operations.md) explains each reason and what to do.`;
}

const overview = (kind: Kind): string[] => [
  `[${kind.kind}](#${kind.kind.toLowerCase()})`,
  kind.shortNames.map(code).join(", "),
  `${kind.description}${isCluster(kind) ? " Cluster-scoped." : ""}`,
];

function section(kind: Kind): string {
  const { properties = {}, ...root } = rootSchema(kind);
  const { spec = {}, status = {} } = properties;
  const rules = [...messagesOf(root).slice(1), ...messagesOf(spec)];
  const ownStatus = fieldsOf(status).filter(({ path }) => !/^(id|observedGeneration|conditions)\b/.test(path));
  const parts = [
    `## ${kind.kind}`,
    `${kind.description} ${isCluster(kind) ? "Cluster-scoped, without a namespace." : "Namespaced."}`,
    `\`kubectl get ${kind.plural}\` shows ${columns(kind.columns.filter(({ wide }) => wide !== true))}; with \`-o wide\` also ${columns(kind.columns.filter(({ wide }) => wide === true))}.${selection(kind)}${scaling(kind)}`,
    `### ${kind.kind}.spec`,
    fieldTable(fieldsOf(spec)),
    ...(rules.length === 0 ? [] : [`These rules must hold:\n\n${rules.map((rule) => `- ${sentence(rule)}`).join("\n")}`]),
    ...(ownStatus.length === 0 ? [] : [`### ${kind.kind}.status`, fieldTable(ownStatus)]),
  ];
  return parts.join("\n\n");
}

const isCluster = ({ scope }: Kind): boolean => scope === "Cluster";
const columns = (all: readonly Column[]): string => all.map(({ name }) => name).join(", ");

function selection({ selectable = [] }: Kind): string {
  const paths = selectable.map((path) => code(path.slice(1)));
  return paths.length === 0 ? "" : ` \`--field-selector\` takes ${paths.join(", ")}.`;
}

const scaling = ({ scale, plural }: Kind): string =>
  scale === undefined ? "" : ` \`kubectl scale ${plural} <name> --replicas=<n>\` works.`;

function fieldTable(fields: readonly Field[]): string {
  return table(
    ["field", "type", "default", "description"],
    fields.map(({ path, type, isRequired, fallback, description, rules }) => [
      `${code(path)}${isRequired ? " (required)" : ""}`,
      type,
      fallback === undefined ? "" : code(JSON.stringify(fallback)),
      [description, ...rules.filter((rule) => rule !== nameMessage).map(sentence)].filter((text) => text !== "").join(" "),
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
/** Escapes stars, which would begin italics in Markdown. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replaceAll("*", "\\*");
