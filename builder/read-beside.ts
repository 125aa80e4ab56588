import { posix } from "node:path";

/** `fs.readFileSync(…)`, with or without an encoding, of a file whose path is said in one of the ways below. */
const reading = (path: string): RegExp =>
  new RegExp(`\\b[\\w$]+(?:\\.default)?\\.readFileSync\\(\\s*${path}\\s*(?:,\\s*(["'][\\w-]+["'])\\s*)?\\)`, "g");
const quoted = `["']([^"'\\\\]+)["']`;
const ways: readonly RegExp[] = [
  reading(`require\\.resolve\\(\\s*${quoted}\\s*\\)`),
  reading(`__dirname\\s*\\+\\s*${quoted}`),
  reading(`[\\w$]*path[\\w$]*(?:\\.default)?\\.(?:join|resolve)\\(\\s*__dirname\\s*,\\s*${quoted}\\s*\\)`),
];

/** Before the path of an import that stands for the file's text. */
export const textOf = "text-beside:";

/**
 * Packages read files that lie beside their modules, of which nothing is there when they run. Where the path is written out, the file's
 * text becomes a part of the bundle.
 */
export function withFilesBeside(text: string): string {
  if (!text.includes("readFileSync(")) return text;
  return ways.reduce(
    (result, way) =>
      result.replaceAll(way, (whole, path: string, encoding: string | undefined) => {
        const relative = posix.normalize(`./${path}`);
        const read = `require("${textOf}${relative.startsWith(".") ? relative : `./${relative}`}")`;
        if (way === ways[0] && !/^\.{1,2}\//.test(path)) return whole;
        return encoding === undefined ? `Buffer.from(${read})` : read;
      }),
    text,
  );
}
