import { once } from "node:events";
import { finished } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { mediaTypeOf, FormFields, multipartLimits } from "../form.ts";
import { PublicError } from "../errors.ts";
import { PartWriter } from "./part-writer.ts";

/** A file of a form, as in a form that was not stored, with a URL in place of its content. */
export interface StoredFormFile {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  readonly url: string;
}

/** `body` of the event of a request whose form was stored: fields by name; of a repeated name, a list. */
export type StoredForm = Readonly<Record<string, unknown>>;

export const isForm = (contentType: string): boolean => mediaTypeOf(contentType) === "multipart/form-data";

/** Reads a form while it arrives, and stores each of its files. Its other fields are in memory, and in the event. */
export class FormWriter {
  readonly #parser: BusboyInstance;
  readonly #fields = new FormFields<string | StoredFormFile>();
  readonly #maxFieldBytes: number;
  readonly #store: (bytes: Uint8Array) => Promise<string>;
  readonly #urlOf: (name: string, parts: readonly string[]) => Promise<string>;
  /** The files so far; it fails with the first that could not be stored. */
  #stored: Promise<void> = Promise.resolve();
  readonly #failed = Promise.withResolvers<never>();
  #fieldBytes = 0;

  /** @param maxFieldBytes of all names and values that are no files @throws PublicError 400 */
  constructor(
    contentType: string,
    maxFieldBytes: number,
    store: (bytes: Uint8Array) => Promise<string>,
    urlOf: (name: string, parts: readonly string[]) => Promise<string>,
  ) {
    this.#maxFieldBytes = maxFieldBytes;
    this.#store = store;
    this.#urlOf = urlOf;
    this.#failed.promise.catch(() => undefined); // Thrown by the next call, if there is one.
    this.#parser = parserOf(contentType, maxFieldBytes);
    this.#parser.on("field", (name, value) => this.#addField(name, value));
    this.#parser.on("file", (name, stream, given, _encoding, type) => {
      const filename = given ?? "";
      this.#addBytes(Buffer.byteLength(name) + Buffer.byteLength(filename) + type.length);
      // One after the other: until then the parser waits with what it has not read.
      this.#stored = this.#stored.then(async () => this.#fields.add(name, await this.#storeFile(stream, filename, type)));
      this.#stored.catch((error: unknown) => this.#fail(error));
    });
    this.#parser.on("error", (error: unknown) => this.#fail(malformed(error)));
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) this.#parser.on(limit, () => this.#fail(tooManyFields()));
  }

  async add(chunk: Buffer): Promise<void> {
    const taken = this.#parser.write(chunk) ? Promise.resolve() : once(this.#parser, "drain");
    await Promise.race([taken, this.#failed.promise]);
  }

  /** @returns the form, when its files are stored @throws what `add` throws */
  async end(): Promise<StoredForm> {
    this.#parser.end();
    // What the parser fails with is thrown as it is elsewhere.
    await Promise.race([finished(this.#parser, { readable: false }).catch(() => this.#failed.promise), this.#failed.promise]);
    await Promise.race([this.#stored, this.#failed.promise]);
    return this.#fields.toObject();
  }

  #addField(name: string, value: string): void {
    this.#addBytes(Buffer.byteLength(name) + Buffer.byteLength(value));
    this.#fields.add(name, value);
  }

  #addBytes(bytes: number): void {
    this.#fieldBytes += bytes;
    if (this.#fieldBytes > this.#maxFieldBytes) this.#fail(fieldsTooLarge(this.#maxFieldBytes));
  }

  async #storeFile(stream: AsyncIterable<Buffer>, filename: string, contentType: string): Promise<StoredFormFile> {
    const parts = new PartWriter(this.#store);
    let size = 0;
    for await (const chunk of stream) {
      size += chunk.length;
      await parts.add(chunk);
    }
    return { filename, contentType, size, url: await this.#urlOf(filename === "" ? "file" : filename, await parts.end()) };
  }

  #fail(error: unknown): void {
    this.#failed.reject(error instanceof Error ? error : malformed(error));
  }
}

function parserOf(contentType: string, fieldSize: number): BusboyInstance {
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits: { ...multipartLimits, fieldSize } });
  } catch (error) {
    throw malformed(error);
  }
}

const malformed = (cause: unknown): PublicError =>
  new PublicError(400, "invalid_multipart", "the body is not the multipart form that its content-type names", { cause });

const tooManyFields = (): PublicError =>
  new PublicError(
    413,
    "body_too_large",
    `the form has too many fields: it may have ${multipartLimits.files} files, and ${multipartLimits.parts} fields in all`,
  );

const fieldsTooLarge = (maxBytes: number): PublicError =>
  new PublicError(
    413,
    "body_too_large",
    `the fields of the form that are no files are larger than ${maxBytes} bytes: send larger ones as files`,
  );
