export interface JsonShape {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** In arrays and objects, themselves included where they lie in another. */
  readonly values: number;
}

const [space, quote, comma, backslash] = [0x20, 0x22, 0x2c, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Measures JSON text in UTF-8 without making its values, which take up to thirty times its bytes and block for as long. Stops where a
 * limit is passed. Of text that is no JSON it says something, and the parser refuses that text.
 */
export function measureJson(bytes: Uint8Array, limits: JsonShape): JsonShape {
  let [depth, deepest, values] = [0, 0, 0];
  // A bracket that is closed at once holds nothing; any other holds one value more than it has commas.
  let isEmpty = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= space) continue;
    switch (byte) {
      case openArray:
      case openObject:
        values++;
        if (++depth > deepest) deepest = depth;
        if (depth > limits.depth) return { depth, values };
        break;
      case closeArray:
      case closeObject:
        if (isEmpty) values--;
        depth--;
        break;
      case comma:
        values++;
        break;
      case quote:
        at = endOfText(bytes, at + 1);
        break;
      default:
    }
    isEmpty = byte === openArray || byte === openObject;
    if (values > limits.values) break;
  }
  return { depth: deepest, values };
}

/** @returns where the closing quote is; the end when there is none */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
