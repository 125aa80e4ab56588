import type { IncomingMessage } from "node:http";
import { LimitExceeded, Malformed } from "../domain/errors.ts";

/** How much more of a body that is too large we take in, so that the client gets to read the answer. */
const discardLimitBytes = 8 * 1024 * 1024;

export function bodyTooLarge(limitBytes: number): LimitExceeded {
  return new LimitExceeded(`the request body is larger than ${limitBytes} bytes (${Math.floor(limitBytes / 1024)} KiB)`, {
    code: "body_too_large",
  });
}

/** @throws LimitExceeded, Malformed when the client breaks off */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limitBytes) {
    discard(request);
    throw bodyTooLarge(limitBytes);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limitBytes) return chunks.push(chunk);
      request.removeAllListeners("data");
      discard(request);
      return reject(bodyTooLarge(limitBytes));
    });
    const onBroken = (): void => reject(new Malformed("the request ended before its body did"));
    request.once("end", () => {
      // Every request closes in the end; an error made then would be for nobody, and costs more than reading the body.
      request.off("close", onBroken);
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    request.once("error", onBroken);
    request.once("close", onBroken);
  });
}

/** Reads on without keeping anything; a connection closed on unread bytes would lose the answer. */
export function discard(request: IncomingMessage): void {
  let bytes = 0;
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > discardLimitBytes) request.destroy();
  });
}
