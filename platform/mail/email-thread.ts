import { parentPort } from "node:worker_threads";
import { InvalidInput } from "../../domain/errors.ts";
import type { ReadEmail } from "./email-reader.ts";
import { parseEmail } from "./parse-email.ts";

// The thread of `EmailReader`: a message of bytes in, what it contains out.
parentPort?.on("message", (raw: Uint8Array) => void read(raw).then((each) => parentPort?.postMessage(each)));

async function read(raw: Uint8Array): Promise<ReadEmail> {
  try {
    return { content: await parseEmail(Buffer.from(raw)) };
  } catch (error) {
    return { problem: error instanceof InvalidInput ? error.message : "it cannot be read" };
  }
}
