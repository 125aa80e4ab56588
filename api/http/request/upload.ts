import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { z } from "zod";
import { HeadwaterError, InvalidInput, LimitExceeded, Malformed } from "../../../domain/errors.ts";

export interface UploadLimits {
  /** Maximum bytes of one file. */
  readonly codeBytes: number;
  readonly files: number;
}

interface Upload {
  readonly files: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, string>;
}

const maxFields = 50;

export const isMultipart = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  /^multipart\/form-data *;/i.test(headers["content-type"] ?? "");

/**
 * Converts a component sent as multipart/form-data to the equivalent JSON body: each part with a file name is one of
 * `component_files` under that name, the field `entry` is `component_entry`, and other fields keep their names. Fields of a form are
 * strings: those that the schema does not read from strings are parsed as JSON.
 */
export async function parseUpload(
  contentType: string,
  body: Buffer,
  schema: z.ZodObject,
  limits: UploadLimits,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return asJson(await parse(contentType, body, limits), schema);
  } catch (error) {
    if (error instanceof HeadwaterError) throw error;
    throw new Malformed(`the body is not valid multipart/form-data: ${error instanceof Error ? error.message : String(error)}`, {
      code: "invalid_multipart",
      cause: error,
    });
  }
}

async function parse(contentType: string, body: Buffer, limits: UploadLimits): Promise<Upload> {
  const files = new Map<string, string>();
  const fields = new Map<string, string>();
  const reading: Promise<void>[] = [];
  let failure: Error | undefined;
  const fail = (error: Error): void => void (failure ??= error);
  const parser = new Busboy({
    headers: { "content-type": contentType },
    // File names are paths; by default busboy keeps only the last segment.
    preservePath: true,
    // One more than allowed, to detect files and bytes above the limit.
    limits: { files: limits.files + 2, fields: maxFields, fieldSize: limits.codeBytes, fileSize: limits.codeBytes + 1, headerPairs: 100 },
  });
  parser.on("field", (name, value, _nameIsCut, valueIsCut) => {
    if (valueIsCut) fail(tooLarge(`the field "${clip(name)}"`, limits));
    if (fields.has(name)) fail(new InvalidInput(`the field "${clip(name)}" is sent twice`));
    fields.set(name, value);
  });
  parser.on("file", (_name, stream, filename) => {
    const read = readText(stream, filename ?? "", limits).then((text) => {
      if (files.has(filename)) fail(new InvalidInput(`the file "${clip(filename)}" is sent twice`, { code: "file_twice" }));
      files.set(filename, text);
    });
    reading.push(read.catch(fail));
  });
  parser.on("filesLimit", () =>
    fail(new LimitExceeded(`more than ${limits.files} files are sent beside the entry`, { code: "too_many_files" })),
  );
  parser.on("fieldsLimit", () => fail(new LimitExceeded(`more than ${maxFields} fields are sent`)));
  Readable.from([body]).pipe(parser);
  await finished(parser, { readable: false });
  await Promise.all(reading);
  if (failure !== undefined) throw failure;
  return { files, fields };
}

async function readText(stream: AsyncIterable<Buffer>, filename: string, limits: UploadLimits): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (filename === "")
    throw new InvalidInput("a file is sent without a name: the name of a part is the path of the file", { code: "invalid_path" });
  if (bytes.length > limits.codeBytes) throw tooLarge(`the file "${clip(filename)}"`, limits);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new InvalidInput(`the file "${clip(filename)}" is not text: components consist of UTF-8 text files`, {
      code: "not_text",
      cause: error,
    });
  }
}

function asJson({ files, fields }: Upload, schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const body = [...fields].map(([name, value]): [string, unknown] => [
    name === "entry" ? "component_entry" : name,
    readsText(schema.shape[name]) ? value : parseField(name, value),
  ]);
  return Object.fromEntries(files.size === 0 ? body : [...body, ["component_files", Object.fromEntries(files)]]);
}

/** Whether a field can have a string as its value. Unknown fields can. */
function readsText(field: z.ZodType | undefined): boolean {
  if (field === undefined) return true;
  const { type, anyOf = [] } = z.toJSONSchema(field, { io: "input", unrepresentable: "any" });
  return type === "string" || anyOf.some((alternative) => alternative.type === "string");
}

function parseField(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new InvalidInput(`the field "${name}" is not valid JSON`, { cause: error });
  }
}

const tooLarge = (what: string, { codeBytes }: UploadLimits): LimitExceeded =>
  new LimitExceeded(`${what} is larger than ${codeBytes} bytes, the limit of a component`, { code: "code_too_large" });

const clip = (text: string): string => text.slice(0, 120);
