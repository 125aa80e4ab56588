import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, type InputType, type ZlibOptions } from "node:zlib";
import { LimitExceeded, Malformed } from "../../../domain/errors.ts";
import type { RequestBodies } from "../../ports.ts";

type Decompress = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: promisify<InputType, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<InputType, ZlibOptions, Buffer>(inflate),
  br: promisify<InputType, ZlibOptions, Buffer>(brotliDecompress),
};

/** @throws LimitExceeded, Malformed, Unavailable when too many bodies are being received */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  options: { readonly limitBytes: number; readonly holder: string },
  bodies: RequestBodies,
): Promise<Buffer> {
  const encoding = (request.headers["content-encoding"] ?? "identity").toLowerCase();
  const decompress = decompressors[encoding];
  if (decompress === undefined && encoding !== "identity")
    throw new Malformed(
      `the content encoding '${encoding.slice(0, 100)}' is unknown: send the body without one, or with gzip, deflate or br`,
      {
        code: "wrong_content_encoding",
      },
    );
  const bytes = await bodies.read(request, response, options);
  return decompress === undefined ? bytes : decompressed(bytes, decompress, encoding, options.limitBytes);
}

async function decompressed(bytes: Buffer, decompress: Decompress, encoding: string, limitBytes: number): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: limitBytes });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE")
      throw new LimitExceeded(`the body is larger than ${limitBytes} bytes when it is decompressed`, { code: "body_too_large", cause });
    throw new Malformed(`the body is not what its content encoding '${encoding}' says`, { cause });
  }
}
