import { kMaxLength } from "buffer/";
import { Buffer, define, methods, statics } from "./buffer-base.ts";
import { patchCopies } from "./buffer-copies.ts";
import { patchNumbers } from "./buffer-numbers.ts";
import { patchSearch } from "./buffer-search.ts";
import { patchText } from "./buffer-text.ts";
import { nodeError } from "../errors.ts";
import { guest } from "../globals.ts";

function patchInspect(): void {
  const show = function (this: Uint8Array): string {
    const shown = Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const more = this.length - 50;
    return `<Buffer ${shown}${more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : ""}>`;
  };
  define(methods, "inspect", show);
  define(methods, Symbol.for("nodejs.util.inspect.custom"), show);
}

function patchStatics(): void {
  define(statics, "copyBytesFrom", (view: ArrayBufferView, offset = 0, length?: number) => {
    const size = view.byteLength / (view as unknown as { length: number }).length || 1; // typed arrays only, as in Node
    const start = view.byteOffset + offset * size;
    const end =
      length === undefined ? view.byteOffset + view.byteLength : Math.min(view.byteOffset + view.byteLength, start + length * size);
    return Buffer.from(new Uint8Array(view.buffer).slice(start, end));
  });
}

patchText();
patchNumbers();
patchSearch();
patchCopies();
patchInspect();
patchStatics();
// This property marks the npm package's Buffer, which some packages refuse.
Reflect.deleteProperty(Buffer, "TYPED_ARRAY_SUPPORT");

export { Buffer };

function isUtf8(input: Uint8Array | ArrayBuffer): boolean {
  try {
    new guest.TextDecoder("utf-8", { fatal: true }).decode(input);
    return true;
  } catch {
    return false;
  }
}

const MAX_STRING_LENGTH = 536_870_888;

/** ICU drops invisible characters that the target encoding lacks, and replaces the others by a question mark. */
const substituteOf = (character: string): string => (/\p{Default_Ignorable_Code_Point}/u.test(character) ? "" : "?");

/** `node:buffer`. */
export default {
  Buffer,
  SlowBuffer: Buffer.allocUnsafe,
  kMaxLength,
  kStringMaxLength: MAX_STRING_LENGTH,
  constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH },
  INSPECT_MAX_BYTES: 50,
  get Blob(): unknown {
    return guest["Blob"];
  },
  get File(): unknown {
    return guest["File"];
  },
  get atob(): unknown {
    return guest["atob"];
  },
  get btoa(): unknown {
    return guest["btoa"];
  },
  isUtf8,
  isAscii: (input: Uint8Array | ArrayBuffer): boolean =>
    new Uint8Array(input instanceof ArrayBuffer ? input : input.slice()).every((byte) => byte < 128),
  transcode: (source: Uint8Array, from: string, to: string): Buffer => {
    if (source.length === 0) return Buffer.alloc(0);
    const known = ["ascii", "utf8", "utf-8", "utf16le", "utf-16le", "ucs2", "ucs-2", "latin1", "binary"];
    if (!known.includes(from.toLowerCase()) || !known.includes(to.toLowerCase()))
      throw nodeError("U_ILLEGAL_ARGUMENT_ERROR", "Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]");
    const text = Buffer.from(source).toString(from);
    const limit = /^(ascii)$/i.test(to) ? 0x7f : /^(latin1|binary)$/i.test(to) ? 0xff : Infinity;
    const isMappable = (character: string): boolean => (character.codePointAt(0) ?? 0) <= limit;
    return Buffer.from(limit === Infinity ? text : Array.from(text, (one) => (isMappable(one) ? one : substituteOf(one))).join(""), to);
  },
};
