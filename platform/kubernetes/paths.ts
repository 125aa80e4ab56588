import { Invariant } from "../../domain/errors.ts";

/** `["api", "v1", "namespaces", name]` → `/api/v1/namespaces/<name>`; no part can lead elsewhere. */
export function pathOf(parts: readonly string[]): string {
  return parts.map((part) => `/${segment(part)}`).join("");
}

function segment(part: string): string {
  if (part === "" || part === "." || part === "..") throw new Invariant(`'${part}' is no part of a path`);
  return encodeURIComponent(part);
}
