import { Buffer } from "../buffer/buffer.ts";

type Values = Record<string, string | string[]>;

const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed()).replace(/%20/g, "%20");
const escape = (value: unknown): string =>
  encodeText(typeof value === "string" ? value : typeof value === "object" && value !== null ? String(value) : `${String(value)}`);

function primitive(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "bigint" || typeof value === "boolean" ? String(value) : "";
}

/** Bytes of a percent-encoded text; invalid escapes stay as they are. */
function unescapeBuffer(text: string): Buffer {
  const bytes: number[] = [];
  const raw = Buffer.from(text, "latin1");
  for (let index = 0; index < raw.length; index++) {
    const byte = raw[index] ?? 0;
    const hex = byte === 0x25 ? raw.subarray(index + 1, index + 3).toString("latin1") : "";
    if (/^[\da-f]{2}$/i.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      index += 2;
    } else bytes.push(byte);
  }
  return Buffer.from(bytes);
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text).toString();
  }
}

function stringify(value: unknown, separator = "&", equals = "=", options: { encodeURIComponent?: (text: string) => string } = {}): string {
  if (typeof value !== "object" || value === null) return "";
  const encode = options.encodeURIComponent ?? querystring.escape;
  return Object.entries(value)
    .flatMap(([name, content]: [string, unknown]) => {
      const key = encode(name);
      return Array.isArray(content)
        ? content.map((item: unknown) => `${key}${equals}${encode(primitive(item))}`)
        : [`${key}${equals}${encode(primitive(content))}`];
    })
    .join(separator);
}

function parse(
  text: unknown,
  separator = "&",
  equals = "=",
  options: { maxKeys?: number; decodeURIComponent?: (text: string) => string } = {},
): Values {
  const values = Object.create(null) as Values;
  if (typeof text !== "string" || text === "") return values;
  const { maxKeys = 1000 } = options;
  const custom = options.decodeURIComponent ?? querystring.unescape;
  const decode = (part: string): string => {
    try {
      return custom(part);
    } catch {
      return unescape(part);
    }
  };
  const pairs = text.split(separator || "&");
  for (const pair of maxKeys > 0 ? pairs.slice(0, maxKeys) : pairs) {
    if (pair === "") continue;
    const at = pair.indexOf(equals || "=");
    // As in Node: text without escapes is not decoded, unless a custom decoder was passed.
    const isPlain = (part: string): boolean => custom === unescape && !/%[0-9a-f]{2}/i.test(part);
    const spaced = (part: string): string => {
      const text = part.replaceAll("+", " ");
      return isPlain(text) ? text : decode(text);
    };
    const name = spaced(at === -1 ? pair : pair.slice(0, at));
    const value = at === -1 ? "" : spaced(pair.slice(at + (equals || "=").length));
    const known = values[name];
    values[name] = known === undefined ? value : [...[known].flat(), value];
  }
  return values;
}

/** `node:querystring`. */
const querystring = { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse };
export default querystring;
