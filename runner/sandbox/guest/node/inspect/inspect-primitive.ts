import type { InspectContext } from "./inspect-layout.ts";

const styles = {
  number: [33, 39],
  bigint: [33, 39],
  boolean: [33, 39],
  string: [32, 39],
  symbol: [32, 39],
  undefined: [90, 39],
  null: [1, 22],
  special: [36, 39],
  date: [35, 39],
  regexp: [31, 39],
  name: [0, 0],
} as const;

export type Style = keyof typeof styles;

export function paint(context: InspectContext, text: string, style: Style): string {
  const [on, off] = styles[style];
  return context.colors && on !== 0 ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

const escapes: Record<string, string> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "\\": "\\\\",
  "\v": "\\x0B",
};
// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\\]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A string literal: single quotes unless it has them and another quote would need no escapes. */
export function quote(text: string): string {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes("`") && !text.includes("${")) mark = "`";
  }
  const escaped = text.replace(unprintable, (character) => {
    const code = character.charCodeAt(0);
    return (
      escapes[character] ??
      (code > 0xff ? `\\u${code.toString(16).toUpperCase()}` : `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`)
    );
  });
  return `${mark}${mark === "'" ? escaped.replaceAll("'", "\\'") : escaped}${mark}`;
}

function separated(digits: string, context: InspectContext): string {
  return context.numericSeparator ? digits.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "_")) : digits;
}

function formatString(context: InspectContext, value: string): string {
  let text = value;
  let trailer = "";
  if (text.length > context.maxStringLength) {
    const left = text.length - context.maxStringLength;
    text = text.slice(0, context.maxStringLength);
    trailer = `... ${left} more character${left > 1 ? "s" : ""}`;
  }
  // Long texts of several lines are shown a line each, when the options are not those of compact output.
  if (context.compact !== true && text.length > 16 && text.length > context.breakLength - context.indentation - 4) {
    return (
      text
        .split(/(?<=\n)/)
        .map((line) => paint(context, quote(line), "string"))
        .join(` +\n${" ".repeat(context.indentation + 2)}`) + trailer
    );
  }
  return paint(context, quote(text), "string") + trailer;
}

/** Formats a primitive. */
export function formatPrimitive(context: InspectContext, value: unknown): string {
  switch (typeof value) {
    case "string":
      return formatString(context, value);
    case "number":
      return paint(context, Object.is(value, -0) ? "-0" : separated(String(value), context), "number");
    case "bigint":
      return paint(context, `${separated(String(value), context)}n`, "bigint");
    case "symbol":
      return paint(context, String(value), "symbol");
    case "undefined":
      return paint(context, "undefined", "undefined");
    case "boolean":
      return paint(context, String(value), "boolean");
    default:
      return paint(context, "null", "null");
  }
}
