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

type FormValue = string | FormFile;

/** Names stay unchanged, including brackets, because components read `body["data[id]"]`. Repeated names have a list. */
const urlencodedOptions = { depth: 0, parseArrays: false, parameterLimit: 1_000, arrayLimit: 1_000 };
const multipartLimits = { fields: 1_000, files: 100, parts: 1_000, headerPairs: 100 };

/** The fields of a form, or undefined for any other content. An invalid form stays unparsed, because its sender may not be able to fix it. */
export async function parseForm(contentType: string, body: Buffer): Promise<unknown> {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/x-www-form-urlencoded") return qs.parse(body.toString("utf8"), urlencodedOptions);
  if (type !== "multipart/form-data") return undefined;
  try {
    return await parseMultipart(contentType, body);
  } catch {
    return undefined;
  }
}

async function parseMultipart(contentType: string, body: Buffer): Promise<Readonly<Record<string, unknown>>> {
  const fields = new Map<string, FormValue | FormValue[]>();
  const add = (name: string, value: FormValue): void => {
    const held = fields.get(name);
    fields.set(name, held === undefined ? value : Array.isArray(held) ? [...held, value] : [held, value]);
  };
  const files: Promise<void>[] = [];
  const parser = new Busboy({ headers: { "content-type": contentType }, limits: multipartLimits });
  parser.on("field", (name, value) => add(name, value));
  parser.on("file", (name, stream, filename, _encoding, type) => {
    const file = readFile(stream).then((bytes) =>
      add(name, { filename: filename ?? "", contentType: type, size: bytes.length, content: bytes.toString("base64") }),
    );
    // If the parser fails first, nothing awaits its files.
    file.catch(() => undefined);
    files.push(file);
  });
  Readable.from([body]).pipe(parser);
  await finished(parser, { readable: false });
  await Promise.all(files);
  return Object.fromEntries(fields);
}

async function readFile(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
