import type { ExportFiles } from "./bounds.ts";
import type { ExportedStep } from "./export-format.ts";

/** The code of a step, or why it cannot be taken over. */
export type StepCode = { readonly code: string; readonly notes: readonly string[] } | { readonly gap: string };

const otherLanguages: readonly (readonly [RegExp, string])[] = [
  [/^python|\.py$/, "Python"],
  [/^go|\.go$/, "Go"],
  [/^(bash|sh)|\.sh$/, "bash"],
];

const hasExport = /\bexport\s+default\b|\bexport\s*\{[^}]*\bdefault\b|\bmodule\.exports\b|\bexports\.default\b/;
const localImport = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}\/[^"']+)["']/g;

/** @param files those of the workflow's folder */
export function codeOf({ uses, runtime = "" }: ExportedStep, files: ExportFiles): StepCode {
  const path = uses.replace(/^\.\//, "");
  const language = otherLanguages.find(([pattern]) => pattern.test(runtime) || pattern.test(path))?.[1];
  if (language !== undefined) return { gap: `its code is ${language}, and steps run JavaScript only: write it in JavaScript` };
  const content = files.get(path);
  if (content === undefined) return { gap: `its code '${path}' is not in the export` };
  if (!/\.(m|c)?[jt]s$/.test(path)) return { gap: `its code '${path}' is in no language that steps run: write it in JavaScript` };
  const code = content.toString("utf8");
  if (!hasExport.test(code)) return { gap: "its code exports nothing: wrap it in export default { async run({ steps, $ }) { … } }" };
  const [local] = code.matchAll(localImport);
  if (local !== undefined)
    return { gap: `it imports '${local[1]}', which exports do not contain: put that code into the step, or into a package` };
  return { code, notes: notesOf(code) };
}

function notesOf(code: string): readonly string[] {
  const notes: string[] = [];
  if (/\$\.checkpoint|\$checkpoint|\$\.service\.db/.test(code))
    notes.push("it keeps state with $.checkpoint or $.service.db, which steps do not have");
  return notes;
}

/** Fails with the reason in place of a step that cannot be taken over, so that the workflow can be deployed and completed. */
export const placeholder = (step: string, gap: string): string =>
  `export default {\n  type: "action",\n  name: ${JSON.stringify(`${step} is not moved yet`)},\n  version: "0.0.1",\n  run() {\n    throw new Error(${JSON.stringify(`step ${step} is not moved: ${gap}`)});\n  },\n};\n`;

const reads =
  /\bprocess\s*(?:\?\.|\.)\s*env\s*(?:\?\.|\.)\s*([A-Za-z_][A-Za-z0-9_]*)|\bprocess\s*\.\s*env\s*\[\s*["']([A-Za-z_]\w*)["']\s*\]/g;
const ofService: ReadonlySet<string> = new Set(["PD_COMPONENT", "PIPEDREAM_WORKFLOW_ID", "NODE_ENV"]);

/** Variables that a text reads as `process.env.NAME`. */
export const variablesIn = (text: string): readonly string[] =>
  [...text.matchAll(reads)].map(([, dotted, quoted]) => dotted ?? quoted ?? "").filter((name) => !ofService.has(name));

/** Props without what the service adds for its forms: definitions of props, and the label beside a value that was chosen in a list. */
export function configuredValues(props: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(props)
      .filter(([name]) => !name.startsWith("__"))
      .map(([name, value]) => [name, withoutLabels(value)]),
  );
}

function withoutLabels(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > 50) return value;
  if (Array.isArray(value)) return value.map((item) => withoutLabels(item, depth + 1));
  const { __lv: chosen } = value as { readonly __lv?: unknown };
  if (typeof chosen === "object" && chosen !== null)
    return Array.isArray(chosen) ? withoutLabels(chosen, depth + 1) : chosenValue(chosen, depth);
  return Object.fromEntries(Object.entries(value).map(([name, item]): [string, unknown] => [name, withoutLabels(item, depth + 1)]));
}

const chosenValue = (chosen: object, depth: number): unknown =>
  "value" in chosen ? withoutLabels(chosen.value, depth + 1) : withoutLabels({ ...chosen }, depth + 1);

/** Values of a key, such as `authProvisionId`, at any depth. */
export function valuesOf(key: string, value: unknown, depth = 0): readonly string[] {
  if (typeof value !== "object" || value === null || depth > 50) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name === key && typeof item === "string" ? [item] : valuesOf(key, item, depth + 1),
  );
}

/** The value with ids replaced wherever they are the value of the key. */
export function withValues(key: string, value: unknown, replace: (id: string) => string, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > 50) return value;
  if (Array.isArray(value)) return value.map((item) => withValues(key, item, replace, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]): [string, unknown] => [
      name,
      name === key && typeof item === "string" ? replace(item) : withValues(key, item, replace, depth + 1),
    ]),
  );
}
