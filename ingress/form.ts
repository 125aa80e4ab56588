import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import qs from "qs";

export interface FormFile {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Base64. */
  readonly content: string;
}

/** Names stay unchanged, including brackets, because components read `body["data[id]"]`. Repeated names have a list. */
const urlencodedOptions = { depth: 0, parseArrays: false, parameterLimit: 1_000, arrayLimit: 1_000 };
export const multipartLimits = { fields: 1_000, files: 100, parts: 1_000, headerPairs: 100 };

export const mediaTypeOf = (contentType: string): string | undefined => contentType.split(";", 1)[0]?.trim().toLowerCase();

/** The fields of a form: of a repeated name, a list. */
export class FormFields<Value> {
  readonly #fields = new Map<string, Value | Value[]>();

  add(name: string, value: Value): void {
    const held = this.#fields.get(name);
    this.#fields.set(name, held === undefined ? value : Array.isArray(held) ? [...(held as Value[]), value] : [held as Value, value]);
  }

  toObject(): Readonly<Record<string, Value | Value[]>> {
    return Object.fromEntries(this.#fields);
  }
}

/** The fields of a form, or undefined for any other content. An invalid form stays unparsed, because its sender may not be able to fix it. */
export async function parseForm(contentType: string, body: Buffer): Promise<unknown> {
  const type = mediaTypeOf(contentType);
  if (type === "application/x-www-form-urlencoded") return qs.parse(body.toString("utf8"), urlencodedOptions);
  if (type !== "multipart/form-data") return undefined;
  try {
    return await parseMultipart(contentType, body);
  } catch {
    return undefined;
  }
}

async function parseMultipart(contentType: string, body: Buffer): Promise<Readonly<Record<string, unknown>>> {
  const fields = new FormFields<string | FormFile>();
  const files: Promise<void>[] = [];
  const parser = new Busboy({ headers: { "content-type": contentType }, limits: multipartLimits });
  parser.on("field", (name, value) => fields.add(name, value));
  parser.on("file", (name, stream, filename, _encoding, type) => {
    const file = readFile(stream).then((bytes) =>
      fields.add(name, { filename: filename ?? "", contentType: type, size: bytes.length, content: bytes.toString("base64") }),
    );
    // If the parser fails first, nothing awaits its files.
    file.catch(() => undefined);
    files.push(file);
  });
  Readable.from([body]).pipe(parser);
  await finished(parser, { readable: false });
  await Promise.all(files);
  return fields.toObject();
}

async function readFile(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
