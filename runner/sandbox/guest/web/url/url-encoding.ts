import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

/** Replaces whatwg-url's encoding module, which uses global classes that user code may have replaced. */
export { encodeUtf8 as utf8Encode };

export function utf8DecodeWithoutBOM(bytes: Uint8Array): string {
  return decodeUtf8(bytes);
}
