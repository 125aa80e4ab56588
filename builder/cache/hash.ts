import { createHash } from "node:crypto";

/** SHA-256, lower-case hex, of UTF-8 texts; several are delimited by their lengths. */
export function sha256(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  if (texts.length === 1) return hash.update(texts[0] ?? "").digest("hex");
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest("hex");
}
