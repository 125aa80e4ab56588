import type { IncomingMessage, ServerResponse } from "node:http";
import { Budget, type BudgetEntry } from "../../domain/limits/budget.ts";
import { LimitExceeded, Malformed, Unavailable } from "../../domain/errors.ts";

export interface BodyRequest {
  readonly limitBytes: number;
  /** Owner of the memory: when memory runs out, the holder with the most loses first. */
  readonly holder: string;
}

/** A chunk costs a microsecond however small: a body of single bytes would take longer to read than to run. */
const freeChunks = 1_000;
const minMeanChunkBytes = 16;

/** Reads request bodies. Bounds the memory of all arriving bodies, in bytes and not in chunks. */
export class RequestBodies {
  readonly #budget: Budget;

  /** @param maxBytes for all arriving bodies together */
  constructor(maxBytes: number) {
    this.#budget = new Budget({ total: maxBytes });
  }

  /** Bytes in memory now. */
  get heldBytes(): number {
    return this.#budget.used;
  }

  /**
   * Sends 100 Continue if the client waits for it.
   * @throws LimitExceeded, Malformed when the client disconnects, Unavailable when too much is arriving
   */
  read(request: IncomingMessage, response: ServerResponse, { limitBytes, holder }: BodyRequest): Promise<Buffer> {
    const declared = request.headers["content-length"];
    if (declared !== undefined && Number(declared) > limitBytes) return Promise.reject(bodyTooLarge(limitBytes));
    if (request.headers.expect !== undefined) response.writeContinue();
    return new Promise((resolve, reject) => {
      const joined = new JoinedBody(this.#budget, holder, limitBytes, () => fail(overloaded()));
      const wholeBytes = declared === undefined ? Number.NaN : Number(declared);
      let only: Buffer | undefined;
      const onData = (chunk: Buffer): void => {
        // Most bodies are a single chunk, which is complete at once.
        if (chunk.length === wholeBytes) return void (only = chunk);
        const problem = joined.add(chunk);
        if (problem !== undefined) fail(problem);
      };
      const onEnd = (): void => {
        leave();
        resolve(only ?? joined.bytes());
      };
      const onBroken = (): void => fail(new Malformed("the request ended before its body did"));
      const leave = (): void => {
        request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
        joined.release();
      };
      const fail = (error: Error): void => {
        leave();
        request.on("error", () => undefined).resume(); // The server bounds the rest.
        reject(error);
      };
      request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
    });
  }
}

const nothing = Buffer.alloc(0);

/** Joins the chunks of one body. */
class JoinedBody {
  readonly #entry: BudgetEntry;
  readonly #limitBytes: number;
  #buffer: Buffer = nothing;
  #length = 0;
  #chunks = 0;

  constructor(budget: Budget, holder: string, limitBytes: number, cut: () => void) {
    this.#limitBytes = limitBytes;
    this.#entry = budget.open(holder, () => {
      cut();
      return true;
    });
  }

  /** @returns why the body is refused, if it is */
  add(chunk: Buffer): Error | undefined {
    const length = this.#length + chunk.length;
    if (length > this.#limitBytes) return bodyTooLarge(this.#limitBytes);
    if (++this.#chunks > freeChunks + length / minMeanChunkBytes) return tooManyChunks();
    if (length > this.#buffer.length && !this.#grow(length)) return overloaded();
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    return undefined;
  }

  bytes(): Buffer {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  release(): void {
    this.#entry.release();
  }

  #grow(length: number): boolean {
    const capacity = Math.max(length, Math.min(this.#buffer.length * 2, this.#limitBytes));
    if (!this.#entry.take(capacity - this.#buffer.length)) return false;
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
    return true;
  }
}

function bodyTooLarge(limitBytes: number): LimitExceeded {
  return new LimitExceeded(`the request body is larger than ${limitBytes} bytes (${Math.floor(limitBytes / 1024)} KiB)`, {
    code: "body_too_large",
  });
}

const tooManyChunks = (): LimitExceeded =>
  new LimitExceeded(`the request body arrives in too many small chunks: send ${minMeanChunkBytes} bytes or more in each`, {
    code: "too_many_chunks",
  });

const overloaded = (): Unavailable =>
  new Unavailable("too many request bodies are arriving at once: send it again as Retry-After says", { code: "overloaded" });
