import { isPrintable, printableJson } from "./printable.ts";

const form = { lineWidth: 0, aliasDuplicateObjects: false } as const;

/** A value as a YAML document. If a text has control characters, all are in double quotes, which can escape them. */
export async function toYaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  const text = stringify(value, form);
  return isPrintable(text) ? text : printableJson(stringify(value, { ...form, defaultStringType: "QUOTE_DOUBLE" }));
}

/** The documents of a YAML or JSON text. @throws Error with line and column */
export async function fromYaml(text: string): Promise<unknown[]> {
  const { parseAllDocuments } = await import("yaml");
  return [...parseAllDocuments(text)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });
}
