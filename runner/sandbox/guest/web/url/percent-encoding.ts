import { encodeUtf8 } from "../encoding/utf8.ts";

/** Replaces `@exodus/bytes/whatwg.js`. The URL standard encodes queries by the document's encoding, which is UTF-8 here. */
export function percentEncodeAfterEncoding(_encoding: string, input: string, percentEncodeSet: string, spaceAsPlus = false): string {
  let text = "";
  for (const byte of encodeUtf8(input)) {
    const character = String.fromCharCode(byte);
    if (spaceAsPlus && byte === 0x20) text += "+";
    else if (byte < 0x20 || byte > 0x7e || percentEncodeSet.includes(character))
      text += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    else text += character;
  }
  return text;
}
