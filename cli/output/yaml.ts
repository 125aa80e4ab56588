/** A value as a YAML document. */
export async function toYaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
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
