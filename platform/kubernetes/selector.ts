import { InvalidInput } from "../../domain/errors.ts";

/** Label values are letters, digits and three signs, so a selector needs no quotes; another text selects nothing, or worse. @throws InvalidInput */
export function selectorOf(wanted: Readonly<Record<string, string>>): string {
  const terms = Object.entries(wanted).map(([label, value]) => {
    if (!/^[A-Za-z0-9_./-]+$/.test(label) || !/^[A-Za-z0-9_.-]*$/.test(value))
      throw new InvalidInput(`label '${label}=${value}' cannot be selected by: a value holds letters, digits, '-', '_' and '.'`);
    return `${label}=${value}`;
  });
  return terms.join(",");
}
