import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

/** Stands in for the module by which whatwg-url encodes: that takes the global classes, which user code may have replaced. */
export { encodeUtf8 as utf8Encode };

export function utf8DecodeWithoutBOM(bytes: Uint8Array): string {
  return decodeUtf8(bytes);
}
