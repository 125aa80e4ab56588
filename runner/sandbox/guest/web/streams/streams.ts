import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";
import { TextDecoder, TextEncoder } from "../encoding/encoding.ts";
import type { BufferSource } from "../encoding/bytes.ts";
import { tag } from "../define.ts";

/** A transform of a readable and a writable end, as in the Encoding and Compression standards. */
class TransformEnds<Input, Output> {
  readonly #stream: TransformStream<Input, Output>;
  constructor(stream: TransformStream<Input, Output>) {
    this.#stream = stream;
  }
  get readable(): ReadableStream<Output> {
    return this.#stream.readable;
  }
  get writable(): WritableStream<Input> {
    return this.#stream.writable;
  }
}

export class TextDecoderStream extends TransformEnds<BufferSource, string> {
  readonly #decoder: TextDecoder;
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) {
    const decoder = new TextDecoder(label, options);
    super(
      new TransformStream<BufferSource, string>({
        transform(chunk, controller) {
          const text = decoder.decode(chunk, { stream: true });
          if (text !== "") controller.enqueue(text);
        },
        flush(controller) {
          const text = decoder.decode();
          if (text !== "") controller.enqueue(text);
        },
      }),
    );
    this.#decoder = decoder;
  }
  get encoding(): string {
    return this.#decoder.encoding;
  }
  get fatal(): boolean {
    return this.#decoder.fatal;
  }
  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }
}

export class TextEncoderStream extends TransformEnds<string, Uint8Array> {
  constructor() {
    const encoder = new TextEncoder();
    // A character may be split between chunks.
    let high = "";
    super(
      new TransformStream<string, Uint8Array>({
        transform(chunk, controller) {
          const text = high + String(chunk);
          const last = text.charCodeAt(text.length - 1);
          high = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : "";
          const bytes = encoder.encode(text.slice(0, text.length - high.length));
          if (bytes.length > 0) controller.enqueue(bytes);
        },
        flush(controller) {
          if (high !== "") controller.enqueue(encoder.encode(high));
        },
      }),
    );
  }
  get encoding(): string {
    return "utf-8";
  }
}

tag(TextDecoderStream, "TextDecoderStream");
tag(TextEncoderStream, "TextEncoderStream");

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformEnds,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
};
