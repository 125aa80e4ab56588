import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A planted secret, in each encoding in which it may leak. */
export interface Needle {
  readonly name: string;
  readonly forms: readonly Buffer[];
}

export function needle(name: string, secret: string | Buffer): Needle {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const texts = [...base64Of(bytes), hex, hex.toUpperCase(), encodeURIComponent(bytes.toString())];
  return { name, forms: [bytes, ...texts.map((text) => Buffer.from(text))] };
}

/** Base64 of a secret within a longer text depends on its offset (three variants); characters shared with neighbours are omitted. */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const inner = text.slice(before === 0 ? 0 : before + 1, (bytes.length + before) % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** The found needles, each with a description of the location. */
export function found(needles: readonly Needle[], where: string, content: string | Buffer): readonly string[] {
  const bytes = Buffer.from(content);
  return needles.filter(({ forms }) => forms.some((form) => bytes.includes(form))).map(({ name }) => `${name} in ${where}`);
}

/** All files below a directory. */
export function foundInFiles(needles: readonly Needle[], directory: string, except: readonly string[] = []): readonly string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return except.includes(path) ? [] : found(needles, path.slice(directory.length + 1), readFileSync(path));
  });
}
