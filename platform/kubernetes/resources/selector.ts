import { InvalidInput } from "../../../domain/errors.ts";

/** Builds a label selector. Label values need no quoting; other characters could select nothing, or too much. @throws InvalidInput */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  const terms = Object.entries(labels).map(([label, value]) => {
    if (!/^[A-Za-z0-9_./-]+$/.test(label) || !/^[A-Za-z0-9_.-]*$/.test(value))
      throw new InvalidInput(`label '${label}=${value}' is not a valid label: use letters, digits, '-', '_' and '.'`);
    return `${label}=${value}`;
  });
  return terms.join(",");
}
