import { call, post } from "../../runtime/bridge.ts";
import { isBufferSource, toBytes } from "../encoding/bytes.ts";
import type { BufferSource, Bytes } from "../encoding/bytes.ts";
import { tag } from "../define.ts";
import { TransformEnds, TransformStream } from "./streams.ts";
import { nextZlibId } from "./zlib-id.ts";

const compressing: Readonly<Record<string, string>> = { gzip: "gzip", deflate: "deflate", "deflate-raw": "deflateRaw" };
const decompressing: Readonly<Record<string, string>> = {
  gzip: "gunzip",
  deflate: "inflate",
  "deflate-raw": "inflateRaw",
};

export class CompressionStream extends TransformEnds<BufferSource, Uint8Array> {
  constructor(format: string) {
    super(throughHost(format, compressing));
  }
}

export class DecompressionStream extends TransformEnds<BufferSource, Uint8Array> {
  constructor(format: string) {
    super(throughHost(format, decompressing));
  }
}

function throughHost(format: string, codecs: Readonly<Record<string, string>>): TransformStream<BufferSource, Uint8Array> {
  const codec = codecs[String(format)];
  if (codec === undefined) throw new TypeError(`format '${String(format)}' is not supported: use gzip, deflate or deflate-raw`);
  const id = nextZlibId();
  const step = async (input: Bytes | null): Promise<Uint8Array> => {
    try {
      return (await call("zlib_write", id, codec, null, input, null)) as Uint8Array; // made by the host's `zlib_write`
    } catch (cause) {
      throw new TypeError("the data is not in that format", { cause });
    }
  };
  return new TransformStream<BufferSource, Uint8Array>({
    async transform(chunk, controller) {
      if (!isBufferSource(chunk)) throw new TypeError("a chunk must be an ArrayBuffer or a view");
      const bytes = await step(toBytes(chunk));
      if (bytes.length > 0) controller.enqueue(bytes);
    },
    async flush(controller) {
      const bytes = await step(null);
      if (bytes.length > 0) controller.enqueue(bytes);
    },
    cancel: () => post("zlib_close", id),
  });
}

tag(CompressionStream, "CompressionStream");
tag(DecompressionStream, "DecompressionStream");
