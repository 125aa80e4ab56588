import type { IncomingMessage, ServerResponse } from "node:http";
import { QuotaExceeded } from "../../domain/errors.ts";
import { fileRetries, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";
import { retry } from "../../domain/retry.ts";
import { PublicError } from "../errors.ts";

/** Stores the parts of an upload while its request is open. */
export class UploadWrites {
  readonly #files: Pick<RunFiles, "write">;
  readonly #of: RunOfFiles;
  readonly #response: ServerResponse;
  readonly #ended = new AbortController();
  /** Resolves when all writes so far are settled. */
  #settled: Promise<unknown> = Promise.resolve();

  constructor(files: Pick<RunFiles, "write">, of: RunOfFiles, request: IncomingMessage, response: ServerResponse) {
    this.#files = files;
    this.#of = of;
    this.#response = response;
    // Also a request that ends normally closes, while its last part is stored; and a response behind others may be dropped without an event.
    request.once("close", () => request.complete || this.#ended.abort());
    response.once("close", () => this.#ended.abort());
  }

  /** @returns the name of the part @throws PublicError 400 if the request has ended, 507 when there is no room; Unavailable */
  store(bytes: Uint8Array): Promise<string> {
    const stored = retry(() => this.#attempt(bytes), { ...fileRetries, signal: this.#ended.signal });
    this.#settled = Promise.allSettled([this.#settled, stored]);
    return stored;
  }

  /** Makes no further attempt. Resolves when those in progress are settled: until then their bytes are in memory. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#settled;
  }

  async #attempt(bytes: Uint8Array): Promise<string> {
    if (this.#ended.signal.aborted || this.#response.headersSent) throw endedEarly();
    try {
      return await this.#files.write(this.#of, bytes);
    } catch (error) {
      if (error instanceof QuotaExceeded) throw noRoom(error);
      throw error;
    }
  }
}

export const endedEarly = (cause?: unknown): PublicError =>
  new PublicError(400, "malformed", "the request ended before its body did", { cause });

/** The owner finds its share in the documentation; callers see no numbers of it. */
const noRoom = (cause: unknown): PublicError =>
  new PublicError(507, "files_full", "this endpoint has no room for large bodies now: send it again later, or a smaller one", {
    cause,
  });
