import { atob } from "../encoding/base64.ts";
import type { Bytes } from "../encoding/bytes.ts";
import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

/** Fetch Standard, "data: URL processor". */
export function decodeDataUrl(url: string): { readonly bytes: Bytes; readonly contentType: string } {
  const found = /^data:([^,]*?)(;\s*base64)?,([^#]*)/i.exec(url);
  if (found === null) throw new TypeError("fetch failed", { cause: new Error("invalid data: URL") });
  const [, type = "", base64, text = ""] = found;
  const bytes = percentDecode(text);
  const contentType = type.trim() === "" || type.startsWith(";") ? `text/plain${type === "" ? ";charset=US-ASCII" : type}` : type.trim();
  return { contentType, bytes: base64 === undefined ? bytes : latin1(atob(decodeUtf8(bytes))) };
}

function percentDecode(text: string): Bytes {
  const bytes = encodeUtf8(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const hex = bytes[at] === 0x25 ? String.fromCharCode(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0) : "";
    const isEscape = /^[0-9a-f]{2}$/i.test(hex);
    bytes[length++] = isEscape ? Number.parseInt(hex, 16) : (bytes[at] as number);
    if (isEscape) at += 2;
  }
  return bytes.slice(0, length);
}

function latin1(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}
