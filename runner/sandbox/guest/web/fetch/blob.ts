import { concatBytes, isBufferSource, toArrayBuffer, toBytes } from "../encoding/bytes.ts";
import type { BufferSource, Bytes } from "../encoding/bytes.ts";
import { tag } from "../define.ts";
import { lazyStreams } from "../streams/streams-lazy.ts";
import type { ReadableStream } from "../streams/streams.ts";
import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

export type BlobPart = BufferSource | Blob | string;
interface BlobOptions {
  readonly type?: string;
  readonly endings?: "transparent" | "native";
}

const chunkBytes = 64 * 1024;

/** The bytes of a blob, not a copy: callers must not modify them. */
export let bytesOf: (blob: Blob) => Bytes;

export class Blob {
  readonly #bytes: Bytes;
  readonly #type: string;

  constructor(parts: Iterable<BlobPart> = [], options: BlobOptions = {}) {
    if (typeof parts !== "object" || parts === null || typeof parts[Symbol.iterator] !== "function")
      throw new TypeError('The "sources" argument must be a sequence.');
    const { type = "" } = options ?? {};
    this.#bytes = concatBytes(Array.from(parts, bytesOfPart));
    this.#type = /^[\x20-\x7e]*$/.test(String(type)) ? String(type).toLowerCase() : "";
  }

  get size(): number {
    return this.#bytes.byteLength;
  }
  get type(): string {
    return this.#type;
  }
  slice(start?: number, end?: number, type = ""): Blob {
    return new Blob([this.#bytes.slice(start, end)], { type });
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }
  async bytes(): Promise<Bytes> {
    return this.#bytes.slice();
  }
  async text(): Promise<string> {
    return decodeUtf8(this.#bytes);
  }
  stream(): ReadableStream<Uint8Array> {
    return streamOf(this.#bytes);
  }

  static {
    bytesOf = (blob) => blob.#bytes;
  }
}

export class File extends Blob {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(parts: Iterable<BlobPart>, name: string, options: BlobOptions & { readonly lastModified?: number } = {}) {
    if (arguments.length < 2) throw new TypeError("File constructor: 2 arguments required");
    super(parts, options);
    this.#name = String(name);
    this.#lastModified = options?.lastModified === undefined ? Date.now() : Number(options.lastModified) || 0;
  }
  get name(): string {
    return this.#name;
  }
  get lastModified(): number {
    return this.#lastModified;
  }
  get webkitRelativePath(): string {
    return "";
  }
}

/** A byte stream over a copy of each part, so that readers may keep or transfer what they get. */
export function streamOf(bytes: Bytes): ReadableStream<Uint8Array> {
  const { ReadableStream } = lazyStreams();
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (at < bytes.byteLength) controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
      if (at < bytes.byteLength) return;
      controller.close();
      // A BYOB reader waits for a response even at the end.
      controller.byobRequest?.respond(0);
    },
  });
}

export { toArrayBuffer };

function bytesOfPart(part: BlobPart): Bytes {
  if (part instanceof Blob) return bytesOf(part);
  if (isBufferSource(part)) return toBytes(part).slice();
  return encodeUtf8(String(part));
}

tag(Blob, "Blob");
tag(File, "File");
