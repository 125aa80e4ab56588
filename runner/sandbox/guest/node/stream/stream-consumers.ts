import { Buffer } from "../buffer/buffer.ts";
import { toBytes } from "../buffer/bytes.ts";
import { guest, type GuestReadableStream } from "../globals.ts";

type Source = AsyncIterable<unknown> | GuestReadableStream;

async function* chunks(source: Source): AsyncGenerator<unknown> {
  if (Symbol.asyncIterator in source) {
    yield* source;
    return;
  }
  const reader = source.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function buffer(source: Source): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks(source)) parts.push(toBytes(chunk));
  return Buffer.concat(parts);
}

const text = async (source: Source): Promise<string> => (await buffer(source)).toString();

async function arrayBuffer(source: Source): Promise<ArrayBuffer> {
  const bytes = await buffer(source);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

/** `node:stream/consumers`. */
export default {
  buffer,
  text,
  arrayBuffer,
  bytes: async (source: Source): Promise<Uint8Array> => new Uint8Array(await arrayBuffer(source)),
  json: async (source: Source): Promise<unknown> => JSON.parse(await text(source)),
  blob: async (source: Source): Promise<unknown> => new (guest["Blob"] as new (parts: unknown[]) => unknown)([await arrayBuffer(source)]),
};
