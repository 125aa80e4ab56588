const firstCapacity = 1_024;

/** The beginning of a body. Copies what it keeps: a chunk is a view of the socket's whole buffer, of which a slow body would hold many. */
export class BodyHead {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  #isCut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const part = chunk.subarray(0, this.#maxBytes - this.#length);
    if (part.length < chunk.length) this.#isCut = true;
    if (part.length === 0) return;
    const needed = this.#length + part.length;
    if (needed > this.#buffer.length) this.#grow(Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2, firstCapacity)));
    this.#buffer.set(part, this.#length);
    this.#length = needed;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** There was more than it keeps. */
  get isCut(): boolean {
    return this.#isCut;
  }

  #grow(capacity: number): void {
    const grown = Buffer.allocUnsafe(capacity);
    grown.set(this.bytes);
    this.#buffer = grown;
  }
}
