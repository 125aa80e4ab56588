import { posix } from "node:path";

/** Bounded, as all repetitions are here: packages are hostile, and what tries each length from each place takes minutes of the thread that all builds share. */
const space = "\\s{0,100}";
const quoted = `["']([^"'\\\\]{1,1000})["']`;
/** `fs.readFileSync(…)`, with or without an encoding, of a file whose path has one of the forms below. */
const reading = (path: string): RegExp =>
  new RegExp(
    `(?<![\\w$])[\\w$]{1,100}(?:\\.default)?\\.readFileSync\\(${space}${path}${space}(?:,${space}(["'][\\w-]{1,100}["'])${space})?\\)`,
    "g",
  );
const ways: readonly RegExp[] = [
  reading(`require\\.resolve\\(${space}${quoted}${space}\\)`),
  reading(`__dirname${space}\\+${space}${quoted}`),
  reading(`[\\w$]{0,100}path[\\w$]{0,100}(?:\\.default)?\\.(?:join|resolve)\\(${space}__dirname${space},${space}${quoted}${space}\\)`),
];

/** Before the path of an import that stands for the file's text. */
export const textOf = "text-beside:";

/**
 * Packages read files in their own folders, which do not exist at run time. If the path is a literal, the file's text becomes part of the
 * bundle.
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
