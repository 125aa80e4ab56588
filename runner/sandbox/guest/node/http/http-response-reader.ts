import type { HeaderPair } from "../../web/fetch/raw-fetch.ts";
import { Buffer } from "../buffer/buffer.ts";
import { nodeError } from "../errors.ts";
import { parseHead, parseHeader } from "./http-head.ts";
import type { ResponseHead } from "./http-head.ts";
import type { Duplex } from "../stream/stream.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type State = "head" | "counted" | "chunk size" | "chunk" | "chunk end" | "trailers" | "until close" | "done";

export interface ReaderEvents {
  /** Called when data arrived. */
  touch(): void;
  /** 1xx responses other than 101. */
  information(head: ResponseHead): void;
  response(head: ResponseHead): void;
  /** 101, or 2xx to CONNECT: the connection now belongs to the caller; `rest` are bytes that already arrived. */
  switched(head: ResponseHead, rest: Buffer): void;
  failed(error: Error): void;
}

const maxHeadBytes = 64 * 1024;
const maxQueuedBytes = 256 * 1024;
const noBytes = Buffer.alloc(0);

/**
 * Reads one HTTP/1.1 response from a connection of the guest, through a proxy or before an upgrade
 * (RFC 9112, 6 and 7). Also the source of the response's body.
 */
export class ResponseReader {
  trailers: readonly HeaderPair[] = [];
  readonly #socket: Duplex;
  readonly #method: string;
  readonly #events: ReaderEvents;
  #state: State = "head";
  #input = noBytes;
  #left = 0;
  #queue: Bytes[] = [];
  #queuedBytes = 0;
  #waiting: { resolve(chunk: Bytes | undefined): void; reject(error: unknown): void } | undefined;
  #error: Error | undefined;
  readonly #onData = (chunk: Bytes): void => this.#take(chunk);
  readonly #onEnd = (): void => this.#ended();
  readonly #onError = (error: Error): void => this.#fail(error);

  constructor(socket: Duplex, method: string, events: ReaderEvents) {
    this.#socket = socket;
    this.#method = method;
    this.#events = events;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onEnd);
    socket.on("error", this.#onError);
  }

  /** The next chunk of the body, undefined at the end; rejects when the connection breaks. */
  next(): Promise<Bytes | undefined> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#queuedBytes -= chunk.byteLength;
      if (this.#queuedBytes < maxQueuedBytes && this.#state !== "done") this.#socket.resume();
      return Promise.resolve(chunk);
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#state === "done") return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.resume();
    });
  }

  cancel(): void {
    this.#socket.destroy();
  }

  #take(chunk: Bytes): void {
    this.#events.touch();
    this.#input =
      this.#input.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([this.#input, chunk]);
    try {
      while (this.#step());
    } catch (error) {
      this.#fail(error as Error); // made below
      this.#socket.destroy();
    }
  }

  /** @returns true if something was read, so that more may follow */
  #step(): boolean {
    switch (this.#state) {
      case "head":
        return this.#readHead();
      case "counted":
      case "chunk":
        return this.#readCounted();
      case "chunk size":
        return this.#readChunkSize();
      case "chunk end":
        return this.#readLine() !== undefined && this.#enter("chunk size");
      case "trailers":
        return this.#readTrailers();
      case "until close":
        return this.#input.length > 0 && this.#give(this.#cut(this.#input.length));
      case "done":
        return false;
    }
  }

  #enter(state: State): true {
    this.#state = state;
    return true;
  }

  #cut(bytes: number): Buffer {
    const part = this.#input.subarray(0, bytes);
    this.#input = this.#input.subarray(bytes);
    return part;
  }

  #readHead(): boolean {
    const end = this.#input.toString("latin1", 0, maxHeadBytes).indexOf("\r\n\r\n");
    if (end === -1) {
      if (this.#input.length > maxHeadBytes) throw nodeError("HPE_HEADER_OVERFLOW", "Parse Error: Header overflow");
      return false;
    }
    const head = parseHead(this.#cut(end + 4).toString("latin1"));
    const { status } = head;
    if (status === 101 || (this.#method === "CONNECT" && status >= 200 && status < 300)) return this.#hand(head);
    if (status >= 100 && status < 200) {
      this.#events.information(head);
      return true;
    }
    this.#state = this.#framing(head);
    this.#events.response(head);
    // The parser's state decides; a listener may have destroyed the connection in the meantime.
    if (this.#state === "done") this.#finish();
    return this.#state !== "done";
  }

  #hand(head: ResponseHead): false {
    const rest = this.#input;
    this.#input = noBytes;
    this.#state = "done";
    this.#release();
    // As in Node, the connection is paused until its new owner reads.
    this.#socket.readableFlowing = null;
    this.#events.switched(head, rest);
    return false;
  }

  #framing({ status, headers }: ResponseHead): State {
    const all = (name: string): string[] => headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
    if (this.#method === "HEAD" || status === 204 || status === 304) return "done";
    if (/(^|,)\s*chunked\s*$/i.test(all("transfer-encoding").join(","))) return "chunk size";
    const [length] = all("content-length");
    if (length === undefined) return "until close";
    if (!/^\d{1,15}$/.test(length)) throw nodeError("HPE_INVALID_CONTENT_LENGTH", "Parse Error: Invalid character in Content-Length");
    this.#left = Number(length);
    return this.#left === 0 ? "done" : "counted";
  }

  #readCounted(): boolean {
    if (this.#input.length === 0) return false;
    const part = this.#cut(Math.min(this.#left, this.#input.length));
    this.#left -= part.length;
    this.#give(part);
    if (this.#left > 0) return false;
    if (this.#state === "chunk") return this.#enter("chunk end");
    return this.#finish();
  }

  #readChunkSize(): boolean {
    const line = this.#readLine();
    if (line === undefined) return false;
    const [, size] = /^([0-9a-f]{1,12})\s*(?:;.*)?$/i.exec(line) ?? [];
    if (size === undefined) throw nodeError("HPE_INVALID_CHUNK_SIZE", "Parse Error: Invalid character in chunk size");
    this.#left = Number.parseInt(size, 16);
    return this.#enter(this.#left === 0 ? "trailers" : "chunk");
  }

  #readTrailers(): boolean {
    const line = this.#readLine();
    if (line === undefined) return false;
    if (line === "") return this.#finish();
    this.trailers = [...this.trailers, parseHeader(line)];
    return true;
  }

  #readLine(): string | undefined {
    const end = this.#input.indexOf(10);
    if (end === -1) {
      if (this.#input.length > maxHeadBytes) throw nodeError("HPE_HEADER_OVERFLOW", "Parse Error: Header overflow");
      return undefined;
    }
    return this.#cut(end + 1)
      .toString("latin1")
      .replace(/\r?\n$/, "");
  }

  #give(chunk: Buffer): true {
    // A copy: otherwise the whole chunk would stay in memory as long as this part.
    const bytes = new Uint8Array(chunk);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting.resolve(bytes);
    else {
      this.#queue.push(bytes);
      this.#queuedBytes += bytes.byteLength;
      if (this.#queuedBytes >= maxQueuedBytes) this.#socket.pause();
    }
    return true;
  }

  #finish(): false {
    this.#state = "done";
    this.#release();
    // An error after the end is irrelevant, but unhandled it would fail the run.
    this.#socket.on("error", () => {});
    // One exchange per connection: only the host's connections are kept alive.
    this.#socket.destroy();
    this.#waiting?.resolve(undefined);
    this.#waiting = undefined;
    return false;
  }

  #ended(): void {
    if (this.#state === "done") return;
    if (this.#state === "until close") this.#finish();
    else this.#fail(nodeError("ECONNRESET", this.#state === "head" ? "socket hang up" : "aborted"));
  }

  #fail(error: Error): void {
    if (this.#state === "done") return;
    const isHead = this.#state === "head";
    this.#state = "done";
    this.#error = error;
    this.#release();
    this.#socket.on("error", () => {});
    this.#waiting?.reject(error);
    this.#waiting = undefined;
    if (isHead) this.#events.failed(error);
  }

  #release(): void {
    const socket = this.#socket;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onEnd);
    socket.off("error", this.#onError);
  }
}
