import type { IncomingMessage } from "node:http";
import { pipeline, Transform } from "node:stream";
import type { Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";

const maxCodings = 5;
/** Maximum bytes between two codings: a bomb may end as an empty body, and occupy a thread until then. */
const maxBetweenBytes = 64 * 1024 * 1024;
// A truncated response returns the bytes that arrived, as in browsers and undici.
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** The body without its content codings; as it came when one of them is not known (RFC 9110, 8.4). */
export function decompress(response: IncomingMessage): Readable {
  const codings = (response.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length === 0 || codings.length > maxCodings) return response;
  const decoders = codings.reverse().map(decoderOf);
  const known = decoders.filter((decoder) => decoder !== undefined);
  const last = known.at(-1);
  if (last === undefined || known.length !== decoders.length) return response;
  // `pipeline` destroys all of them when one fails or is destroyed; the reader sees the error on the last.
  pipeline([response, ...known.flatMap((decoder) => (decoder === last ? [decoder] : [decoder, limited()]))], () => {});
  return last;
}

function limited(): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > maxBetweenBytes)
        done(
          Object.assign(new Error(`the response body unfolds to more than ${maxBetweenBytes} bytes`), {
            code: "response_too_large",
          }),
        );
      else done(null, chunk);
    },
  });
}

function decoderOf(coding: string): Transform | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(zlibOptions);
    case "deflate":
      return inflateEither();
    case "br":
      return createBrotliDecompress(brotliOptions);
    default:
      return undefined;
  }
}

/** "deflate" means zlib's format, and servers that send raw deflate are common: the first byte shows which it is. */
function inflateEither(): Transform {
  let inner: Transform | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      inner ??= start(this, chunk);
      inner.write(chunk, done);
    },
    flush(done) {
      if (inner === undefined) return done();
      inner.once("end", () => done());
      inner.end();
    },
    destroy(error, done) {
      inner?.destroy();
      done(error);
    },
  });
}

function start(outer: Transform, chunk: Buffer): Transform {
  const isZlib = ((chunk[0] ?? 0) & 0x0f) === 8;
  const inner = isZlib ? createInflate(zlibOptions) : createInflateRaw(zlibOptions);
  inner.on("data", (data: Buffer) => outer.push(data));
  inner.on("error", (error) => outer.destroy(error));
  return inner;
}
