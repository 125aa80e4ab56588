export type Bytes = Uint8Array<ArrayBuffer>;
export type BufferSource = ArrayBuffer | ArrayBufferView;

export function isBufferSource(value: unknown): value is BufferSource {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

/** The visible bytes of a buffer or view, without a copy. Memory is never shared: SharedArrayBuffer does not exist here. */
export function toBytes(source: BufferSource): Bytes {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength); // see above
}

export function concatBytes(chunks: readonly Bytes[]): Bytes {
  let length = 0;
  for (const chunk of chunks) length += chunk.byteLength;
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

/** A buffer of exactly these bytes. */
export function toArrayBuffer(bytes: Bytes): ArrayBuffer {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}
