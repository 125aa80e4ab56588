import { Invariant } from "../../domain/errors.ts";

/** `["api", "v1", "namespaces", name]` → `/api/v1/namespaces/<name>`. Parts are escaped. */
export function pathOf(parts: readonly string[]): string {
  return parts.map((part) => `/${segment(part)}`).join("");
}

function segment(part: string): string {
  if (part === "" || part === "." || part === "..") throw new Invariant(`'${part}' is not a valid path segment`);
  return encodeURIComponent(part);
}
