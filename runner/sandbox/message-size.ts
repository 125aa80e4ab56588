/** Maximum depth of messages of the guest's runtime. */
const maxDepth = 16;
/** Twice the maximum bytes that a run may send. */
const maxBytes = 128 * 1024 * 1024;

/** The approximate size of a guest's message in bytes, which is charged to the bridge budget. */
export function weigh(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length * 2;
  // The guest's runtime sends none, and one may have a hundred megabytes.
  if (typeof value === "bigint") return Infinity;
  if (typeof value !== "object" || value === null) return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof ArrayBuffer) return value.byteLength;
  if (depth > maxDepth) return Infinity;
  let sum = 32;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    sum += weigh(item, depth + 1);
    if (sum > maxBytes) return Infinity; // Also ends a walk through a cyclic value, which only hostile code sends.
  }
  return sum;
}

/** Maximum levels of JSON that leaves a run: later readers use recursion, on a stack of unknown depth. */
export const maxNesting = 1_000;

/** Whether the text is JSON of at most `maxNesting` levels. The depth is checked first, because a megabyte of `[` takes the parser long. */
export function isJson(text: string): boolean {
  if (isTooDeep(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Brackets within texts do not count. Half of a text this short are not enough levels. */
export function isTooDeep(text: string): boolean {
  if (text.length <= 2 * maxNesting) return false;
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (isQuoted) index += code === 0x5c ? 1 : 0;
    else if (code === 0x5b || code === 0x7b) depth += 1;
    else if (code === 0x5d || code === 0x7d) depth -= 1;
    if (depth > maxNesting) return true;
  }
  return false;
}

/** Whether JSON has more values than `max`; those within its texts do not count. A text of a few megabytes can take the parser seconds. */
export function hasMoreValues(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let count = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (isQuoted) index += code === 0x5c ? 1 : 0;
    else if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
    if (count > max) return true;
  }
  return false;
}

/** Bytes of a text as a part of JSON: it is stored in a message, and quotes and control characters grow there. */
export function jsonTextBytes(text: string): number {
  let bytes = Buffer.byteLength(text) + 2;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22 || code === 0x5c || (code >= 0x08 && code <= 0x0d && code !== 0x0b)) bytes += 1;
    else if (code < 0x20) bytes += 5;
    else if (code >= 0xd800 && code <= 0xdfff) bytes += 3; // Half of a pair, as a rule; alone it is escaped.
  }
  return bytes;
}
