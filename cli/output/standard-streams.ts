import type { Writable } from "node:stream";
import { exitCodes } from "../failure.ts";

/** Writes, and resolves when more may be written. A reader that closed its end of the pipe (`hw events | head`) has what it wanted. */
export function writeTo(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.listenerCount("error") === 0) stream.on("error", endOnClosedPipe);
    stream.write(text, (error) => {
      if (error === null || error === undefined) return resolve();
      endOnClosedPipe(error);
      reject(error);
    });
  });
}

function endOnClosedPipe(error: Error): void {
  if ("code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED")) process.exit(exitCodes.success);
}
