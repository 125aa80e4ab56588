import type { HostCall, HostTask } from "./steps.ts";

/** Of a file, as they are stored: each part but the last has so many bytes. The host has the same constant. */
export const partBytes = 512 * 1024;

const { max, min } = Math;

/**
 * A part of a file's content: in memory, stored by the host, or both. In neither, it is zeros: a hole.
 *
 *     hole ── change ──▶ changed ── store ──▶ stored and in memory ── forget ──▶ stored ── load ──▶ stored and in memory
 *                            ▲────────────── change ──────────┘
 */
export class Part implements HostTask {
  /** Grows by doubling, so that small files are small; what it lacks to `size` is zeros. */
  bytes: Uint8Array | undefined;
  /** By which the host has stored exactly this content. */
  name: string | undefined;
  size: number;
  /** Bytes of memory that the volume counts for it. */
  countedBytes = 0;
  inFlight: Promise<void> | undefined;
  /** Of changes. */
  #version = 0;

  constructor(size: number, name?: string) {
    this.size = size;
    this.name = name;
  }

  /** It must be loaded before it can be read, or changed in part. */
  get isAway(): boolean {
    return this.bytes === undefined && this.name !== undefined;
  }

  /** Loads it, or stores its changes. */
  next(): HostCall {
    const { name } = this;
    if (name !== undefined)
      return { operation: "file_read", args: [name], syscall: "read", settle: (bytes) => this.#load(name, bytes as Uint8Array) };
    const version = this.#version;
    return {
      operation: "file_write",
      args: [this.content()],
      syscall: "write",
      settle: (stored) => {
        if (version === this.#version) this.name = stored as string;
      },
    };
  }

  /** Exactly its bytes. Not a copy if that can be avoided. */
  content(): Uint8Array {
    const { bytes, size } = this;
    if (bytes !== undefined && bytes.length >= size) return bytes.subarray(0, size);
    const whole = new Uint8Array(size);
    if (bytes !== undefined) whole.set(bytes);
    return whole;
  }

  /** It must not be away. */
  read(target: Uint8Array, offset: number): void {
    const known = this.bytes === undefined ? target.subarray(0, 0) : this.bytes.subarray(offset, offset + target.length);
    target.set(known);
    if (known.length < target.length) target.fill(0, known.length);
  }

  /** It must not be away, unless all of it is written. */
  write(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    const before = this.bytes;
    if (before === undefined || before.length < end) {
      this.bytes = new Uint8Array(min(partBytes, max(end, (before?.length ?? 0) * 2)));
      if (before !== undefined) this.bytes.set(before);
    }
    this.bytes?.set(bytes, offset);
    this.#change();
  }

  /** What is added is zeros. It must not be away. */
  resize(size: number): void {
    if (size === this.size) return;
    if (this.bytes !== undefined && this.bytes.length > size) this.bytes.fill(0, size);
    this.size = size;
    this.#change();
  }

  #change(): void {
    this.name = undefined;
    this.#version += 1;
  }

  #load(name: string, bytes: Uint8Array): void {
    if (name !== this.name) return; // It was changed in the meantime.
    if (bytes.length !== this.size) throw new Error(`a stored part has ${bytes.length} bytes, not ${this.size}`);
    this.bytes ??= bytes;
  }
}
