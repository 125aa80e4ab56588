import { beginWork, endWork, type OpenWork } from "../../runtime/open-work.ts";
import { rawFetch } from "../../web/fetch/raw-fetch.ts";
import { Buffer } from "../buffer/buffer.ts";
import { concatBytes, toBytes } from "../buffer/bytes.ts";
import { nodeError } from "../errors.ts";
import { guest } from "../globals.ts";
import type { GuestSignal } from "../globals.ts";
import type { Agent } from "./http-agent.ts";
import { needsConnection, requestConnection } from "./http-connection.ts";
import { writeRequest } from "./http-head.ts";
import type { ResponseHead } from "./http-head.ts";
import { IncomingMessage } from "./http-incoming.ts";
import type { IncomingResponse } from "./http-incoming.ts";
import { OutgoingMessage } from "./http-outgoing.ts";
import { parseArguments, resolveTarget } from "./http-request-options.ts";
import type { RequestOptions, Target } from "./http-request-options.ts";
import { ResponseReader } from "./http-response-reader.ts";
import { HttpSocket } from "./http-socket.ts";
import { nextTick } from "../timers/next-tick.ts";
import type { Duplex } from "../stream/stream.ts";

const maxBodyBytes = 10 * 1024 * 1024;
const withoutBody = /^(GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/;

/**
 * Node's ClientRequest. The body is collected, and the host sends the request when it ends. As in Node, redirects, compressed
 * bodies and so on are left to the caller. A request that needs its own connection (an upgrade, a proxy,
 * `createConnection`) is written to that connection by this class.
 */
export class ClientRequest extends OutgoingMessage {
  readonly agent: Agent | undefined;
  readonly protocol: string;
  readonly host: string;
  readonly method: string;
  path: string;
  reusedSocket = false;
  upgradeOrConnect = false;
  readonly maxHeadersCount = null;
  aborted = false;
  finished = false;
  timeoutCb: unknown = null;
  res: IncomingMessage | null = null;
  socket: HttpSocket | Duplex | null = null;
  connection: HttpSocket | Duplex | null = null;
  readonly #options: RequestOptions;
  readonly #target: Target;
  readonly #abort = new guest.AbortController();
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #timeoutMs = 0;
  #timer: unknown;
  #isClosed = false;
  #ownSocket: Duplex | undefined;
  #isEnded = false;
  readonly #work: OpenWork;

  constructor(defaultProtocol: string, globalAgent: Agent, args: readonly unknown[]) {
    super({ autoDestroy: false, emitClose: false, decodeStrings: false });
    const { options, listener } = parseArguments(args);
    this.#options = options;
    this.agent =
      typeof options.agent === "object" && options.agent !== null ? options.agent : options.agent === false ? undefined : globalAgent;
    this.#target = resolveTarget(options, defaultProtocol, this.agent);
    this.protocol = this.#target.protocol;
    this.host = this.#target.host;
    this.method = this.#target.method;
    this.path = this.#target.path;
    this.#work = beginWork(`${this.method} ${this.#target.url}`);
    this.useChunkedEncodingByDefault = !withoutBody.test(this.method);
    this.#setHeaders(options);
    if (listener !== undefined) this.once("response", listener);
    const timeoutMs = options.timeout ?? this.agent?.options.timeout;
    if (typeof timeoutMs === "number" && timeoutMs > 0) this.setTimeout(timeoutMs);
    if (options.signal !== undefined && options.signal !== null) this.#follow(options.signal as GuestSignal);
    nextTick(() => this.#assignSocket());
  }

  setTimeout(delayMs: number, listener?: () => void): this {
    if (listener !== undefined) this.once("timeout", listener);
    this.#timeoutMs = delayMs;
    this.touch();
    return this;
  }
  clearTimeout(): this {
    return this.setTimeout(0);
  }
  setNoDelay(): void {}
  setSocketKeepAlive(): void {}
  /** Called by agents that create their own connections. */
  onSocket(socket: unknown, error?: unknown): void {
    nextTick(() => {
      if (error !== undefined && error !== null) this.destroy(error as Error);
      else if (this.destroyed) (socket as Duplex).destroy();
      else this.#talkOver(socket as Duplex); // an agent's promise
    });
  }

  /** Restarts the idle timeout after activity on the connection. */
  touch(): void {
    guest.clearTimeout(this.#timer);
    if (this.#timeoutMs <= 0 || this.#isClosed) return;
    this.#timer = guest
      .setTimeout(() => {
        this.emit("timeout");
        this.socket?.emit("timeout");
      }, this.#timeoutMs)
      .unref();
  }

  /** Ends the exchange, whether it succeeded or failed. */
  finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    endWork(this.#work);
    guest.clearTimeout(this.#timer);
    nextTick(() => this.emit("close"));
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    nextTick(() => this.emit("abort"));
    this.destroy();
  }

  override _write(chunk: unknown, encoding: string, callback: (error?: Error | null) => void): void {
    // A copy: the caller may reuse its buffer once the write is acknowledged.
    const bytes = toBytes(chunk, encoding).slice();
    this.#bytes += bytes.byteLength;
    if (this.#bytes > maxBodyBytes)
      return callback(nodeError("ERR_SANDBOX_LIMIT", `the request body is larger than ${maxBodyBytes} bytes, the limit`));
    this.#chunks.push(bytes);
    callback();
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.finished = true;
    this.headersSent = true;
    this.#isEnded = true;
    this.#proceed();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    if (!this.upgradeOrConnect) this.socket?.destroy();
    const { res } = this;
    if (res !== null && !res.complete) res.destroy(error);
    callback(error ?? (res === null ? nodeError("ECONNRESET", "socket hang up") : null));
    // After the callback, so that `close` comes after `error`.
    this.finish();
  }

  #setHeaders({ headers, auth, setHost }: RequestOptions): void {
    if (Array.isArray(headers))
      for (let index = 0; index + 1 < headers.length; index += 2) this.appendHeader(String(headers[index]), String(headers[index + 1]));
    else for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) this.setHeader(name, value);
    if (setHost !== false && !this.hasHeader("host")) this.setHeader("Host", this.#hostHeader());
    if (typeof auth === "string" && auth !== "" && !this.hasHeader("authorization"))
      this.setHeader("Authorization", `Basic ${Buffer.from(auth).toString("base64")}`);
  }

  #hostHeader(): string {
    const { host, port, protocol } = this.#target;
    const isDefault = port === "" || port === (protocol === "https:" ? "443" : "80");
    return (host.includes(":") ? `[${host}]` : host) + (isDefault ? "" : `:${port}`);
  }

  #follow(signal: GuestSignal): void {
    const onAbort = (): void => {
      this.destroy(
        Object.assign(nodeError("ABORT_ERR", "The operation was aborted"), {
          name: "AbortError",
          cause: signal.reason,
        }),
      );
    };
    if (signal.aborted) nextTick(onAbort);
    else signal.addEventListener("abort", onAbort, { once: true });
  }

  #assignSocket(): void {
    if (this.destroyed) return;
    if (needsConnection(this, this.#options, this.#target)) return requestConnection(this, this.#options, this.#target);
    const socket = new HttpSocket(this.protocol === "https:", (delayMs) => this.setTimeout(delayMs));
    this.#setSocket(socket);
    if (String(this.getHeader("expect") ?? "").toLowerCase() === "100-continue") this.emit("continue");
    this.#proceed();
  }

  #setSocket(socket: HttpSocket | Duplex): void {
    this.socket = socket;
    this.connection = socket;
    this.emit("socket", socket);
  }

  /** Sends the request once it is complete and connected. */
  #proceed(): void {
    if (!this.#isEnded || this.socket === null || this.destroyed) return;
    if (this.#ownSocket === undefined) return this.#send();
    const body = this.#chunks.length === 0 ? undefined : concatBytes(this.#chunks);
    this.#chunks = [];
    this.touch();
    try {
      this.#ownSocket.write(writeRequest({ method: this.method, path: this.path, headers: this.headerPairs() }, body));
    } catch (error) {
      this.destroy(error as Error); // of a path that cannot be written
    }
  }

  #talkOver(socket: Duplex): void {
    const reader: ResponseReader = new ResponseReader(socket, this.method, {
      touch: () => this.touch(),
      information: ({ status, statusText, headers }) =>
        this.emit(status === 100 ? "continue" : "information", {
          statusCode: status,
          statusMessage: statusText,
          rawHeaders: headers.flat(),
        }),
      response: (head) => this.#respond({ ...head, body: reader, trailers: [] }),
      switched: (head, rest) => this.#switch(head, socket, rest),
      failed: (error) => this.destroy(error),
    });
    this.#ownSocket = socket;
    this.#setSocket(socket);
    this.#proceed();
  }

  /** The connection was upgraded: it belongs to the event's listener from now on. */
  #switch(head: ResponseHead, socket: Duplex, rest: Uint8Array): void {
    if (this.destroyed) return;
    const incoming = new IncomingMessage({ ...head, body: null, trailers: [] }, this);
    this.res = incoming;
    this.upgradeOrConnect = true;
    if (!this.emit(this.method === "CONNECT" ? "connect" : "upgrade", incoming, socket, rest)) socket.destroy();
    this.finish();
  }

  #send(): void {
    const body = this.#chunks.length === 0 ? undefined : concatBytes(this.#chunks);
    this.#chunks = [];
    this.touch();
    const { url, path, method, tls } = this.#target;
    // `path` may have been changed by interceptors between construction and end.
    const request = {
      url,
      path: this.path === path ? path : this.path,
      method,
      headers: this.headerPairs(),
      body,
      redirect: "manual",
      signal: this.#abort.signal,
      raw: true,
      tls,
    } as const;
    rawFetch(request).then(
      (response) => this.#respond(response),
      (error: unknown) => this.#fail(error),
    );
  }

  #respond(response: IncomingResponse): void {
    if (this.destroyed) return;
    endWork(this.#work);
    this.touch();
    const incoming = new IncomingMessage(response, this);
    this.res = incoming;
    // No listener: the body is read and dropped, to release the connection.
    if (!this.emit("response", incoming)) incoming.resume();
  }

  #fail(error: unknown): void {
    if (this.destroyed) return;
    const { message, code } = error as { message: string; code?: string };
    const [, syscall] = /^(connect|getaddrinfo|read|write) E/.exec(message) ?? [];
    this.destroy(
      Object.assign(
        nodeError(code ?? "ECONNRESET", message),
        syscall === undefined ? {} : { syscall },
        syscall === "getaddrinfo" ? { hostname: this.host } : {},
      ),
    );
  }
}
