import { isJson } from "../json.ts";
import type { LogRecord, RunError } from "../run-products.ts";

/** Shorter values are not masked: they occur by chance in ordinary text. */
export const minMaskedLength = 6;
/** From this length on, the lines of a secret with several lines (a PEM key) are masked one by one. */
const minLineLength = 16;
/** Shorter base64 occurs by chance. */
const minBase64Length = 8;
/** Longer values (keys, certificates) are not looked for in encoded form: encoding them for every run would take too long. */
const maxEncodedLength = 2_048;
/** So many equal characters are a match. A longer needle is masked as far as the text continues it, since the text may be cut. */
const anchorLength = 64;
/** Our runtime cuts texts at 8 KiB and more; in those the beginning of a secret at the end is a match, too. */
const minCutTextLength = 4_096;
/** Comparisons in the texts of one run. Ordinary texts need a few; without a bound user code could block the runner. */
const maxComparisons = 500_000;

const mask = "***";
const hidden = "(not shown: too much of it resembles secrets)";
/** Each pair of ASCII characters has a place of its own. */
const pairs = 16_384;

/**
 * Replaces secret values by `***` wherever they occur in the texts of one run: as they are, escaped in JSON, percent-encoded, in hex, and
 * in the base64 of anything that contains them (`user:secret`). Takes one pass over a text, whatever the number of secrets.
 */
export class SecretMask {
  /** By their first {@link minMaskedLength} characters, longest first. */
  readonly #needles: ReadonlyMap<string, readonly string[]>;
  /** 1 where a needle begins with two characters of that hash. */
  readonly #starts: Uint8Array;
  #comparisonsLeft = maxComparisons;

  /** @param values secret values, in any nesting; or a mask of the same values, for the texts of another run */
  constructor(values: unknown) {
    if (values instanceof SecretMask) {
      this.#needles = values.#needles;
      this.#starts = values.#starts;
      return;
    }
    this.#starts = new Uint8Array(pairs);
    const needles = [...new Set(textsIn(values).flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
    for (const needle of needles) this.#starts[pairAt(needle, 0)] = 1;
    this.#needles = Map.groupBy(needles, (needle) => needle.slice(0, minMaskedLength));
  }

  text(text: string): string {
    const starts = this.#starts;
    let masked = "";
    let copied = 0;
    for (let at = 0; at <= text.length - minMaskedLength; at++) {
      if (starts[pairAt(text, at)] === 0) continue;
      if (this.#comparisonsLeft <= 0) return hidden;
      const length = this.#matchAt(text, at);
      if (length === 0) continue;
      masked += text.slice(copied, at) + mask;
      copied = at + length;
      at = copied - 1;
    }
    return copied === 0 ? text : masked + text.slice(copied);
  }

  /** Masks a JSON text, which stays valid JSON. */
  json(text: string): string {
    const masked = this.text(text);
    return masked === text || isJson(masked) ? masked : JSON.stringify(mask);
  }

  error(error: RunError): RunError {
    const { name, message, stack } = error;
    return { ...error, name: this.text(name), message: this.text(message), ...(stack === undefined ? {} : { stack: this.text(stack) }) };
  }

  record(record: LogRecord): LogRecord {
    const { msg, err } = record;
    return { ...record, ...(msg === undefined ? {} : { msg: this.text(msg) }), ...(err === undefined ? {} : { err: this.error(err) }) };
  }

  /** Length of the longest secret, or beginning of one, that is there; 0 if none is. */
  #matchAt(text: string, at: number): number {
    this.#comparisonsLeft--;
    let longest = 0;
    for (const needle of this.#needles.get(text.slice(at, at + minMaskedLength)) ?? []) {
      this.#comparisonsLeft--;
      const length = commonLength(text, at, needle);
      const isMatch = length >= Math.min(anchorLength, needle.length) || (length >= minMaskedLength && isCutAt(text, at + length));
      if (isMatch && length > longest) longest = length;
    }
    return longest;
  }
}

function commonLength(text: string, at: number, needle: string): number {
  let length = 0;
  while (length < needle.length && text.charCodeAt(at + length) === needle.charCodeAt(length)) length++;
  return length;
}

function isCutAt(text: string, end: number): boolean {
  return text.length >= minCutTextLength && (end === text.length || text.startsWith("…", end) || text.startsWith("...", end));
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 7)) & (pairs - 1);
}

/** Of an account only the credentials are secret, not its id. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => (name === "authProvisionId" ? [] : textsIn(part)));
}

/** The texts in which a secret is recognized. */
function formsOf(value: string): readonly string[] {
  const secret = value.trim();
  const lines = secret.includes("\n") ? secret.split("\n").map((line) => line.trim()) : [];
  const texts = [secret, JSON.stringify(secret).slice(1, -1), ...lines.filter((line) => line.length >= minLineLength)];
  const encoded = secret.length > maxEncodedLength ? [] : [...percentForms(secret), ...binaryForms(secret)];
  return secret.length < minMaskedLength ? [] : [...texts, ...encoded];
}

function percentForms(secret: string): readonly string[] {
  const text = secret.toWellFormed();
  return [encodeURIComponent(text), encodeURI(text), String(new URLSearchParams({ "": text })).slice(1)];
}

/**
 * Hex, and what the base64 of any bytes that contain the secret contains, without the characters at either end that depend on the bytes
 * around it: three texts, since three bytes become four characters, each also in base64url.
 */
function binaryForms(secret: string): readonly string[] {
  const bytes = new TextEncoder().encode(secret);
  const base64 = [0, 1, 2].flatMap((before) => {
    const encoded = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes));
    const form = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return form.length < minBase64Length ? [] : [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""), ...base64];
}
