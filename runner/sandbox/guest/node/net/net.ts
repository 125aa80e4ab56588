import { post } from "../../runtime/bridge.ts";
import { disownSocket, openSocket, ownSocket, releaseSocket } from "../../web/websocket/raw-socket.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { nodeError, unsupported, unsupportedClass, unsupportedFunction } from "../errors.ts";
import { EventEmitter } from "../events/events.ts";
import { guest } from "../globals.ts";
import { isIP, isIPv4, isIPv6 } from "./net-address.ts";
import { nextTick } from "../timers/next-tick.ts";
import { Duplex } from "../stream/stream.ts";
import type { TlsSettings } from "./tls-options.ts";

type Done = (error?: Error | null) => void;

export interface ConnectOptions {
  readonly host?: string;
  readonly port?: number | string;
  readonly path?: string;
  readonly timeout?: number;
  readonly signal?: unknown;
  readonly [option: string]: unknown;
}

interface Peer {
  readonly address?: string;
  readonly port?: number;
  readonly family?: string;
}

/** `net.Socket` over a connection of the host, which resolves and judges the name. */
export class Socket extends Duplex {
  connecting = false;
  bytesRead = 0;
  bytesWritten = 0;
  timeout: number | undefined;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  remoteFamily: string | undefined;
  readonly localAddress: string | undefined = undefined;
  readonly localPort: number | undefined = undefined;
  protected id = 0;
  protected peerHost = "localhost";
  #whenConnected: (() => void)[] = [];
  #written: Done[] = [];
  #timer: unknown;

  constructor(options: { readonly allowHalfOpen?: boolean; readonly signal?: unknown } = {}) {
    super({
      allowHalfOpen: options?.allowHalfOpen === true,
      decodeStrings: false,
      emitClose: false,
      autoDestroy: true,
    });
    this.on("end", () => {
      if (!this.allowHalfOpen && !this.writableEnded) this.end();
    });
  }

  connect(...args: unknown[]): this {
    const { options, listener } = parseConnectArguments(args);
    if (listener !== undefined) this.once("connect", listener);
    if (options.path !== undefined && options.path !== null) throw unsupported("a connection to a local socket", "use a host and a port");
    const port = Number(options.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      throw nodeError("ERR_SOCKET_BAD_PORT", `Port should be >= 0 and < 65536. Received ${String(options.port)}.`, RangeError);
    }
    if (typeof options.timeout === "number") this.setTimeout(options.timeout);
    this.open(options.host ?? "localhost", port, undefined);
    return this;
  }

  setTimeout(delayMs: number, listener?: () => void): this {
    this.timeout = delayMs;
    if (listener !== undefined && delayMs === 0) this.off("timeout", listener);
    else if (listener !== undefined) this.once("timeout", listener);
    this.#touch();
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    releaseSocket(this.id);
    return this;
  }
  address(): object {
    return {};
  }
  destroySoon(): void {
    if (this.writableEnded) this.destroy();
    else this.end(() => this.destroy());
  }
  resetAndDestroy(): this {
    return this.destroy(nodeError("ECONNRESET", "read ECONNRESET"));
  }
  get pending(): boolean {
    return this.id === 0 || this.connecting;
  }
  get readyState(): string {
    if (this.connecting) return "opening";
    if (this.destroyed || this.id === 0) return "closed";
    return this.writableEnded ? "readOnly" : "open";
  }
  get bufferSize(): number {
    return this.writableLength;
  }

  override _read(): void {
    if (this.id > 0) post("socket_resume", this.id);
  }

  override _write(chunk: unknown, encoding: string, callback: Done): void {
    this.#afterConnect(() => {
      const bytes = toBytes(chunk, encoding);
      this.bytesWritten += bytes.byteLength;
      this.#written.push(callback);
      this.#touch();
      post("socket_write", this.id, bytes);
    });
  }

  override _final(callback: Done): void {
    if (this.id === 0) return callback();
    this.#afterConnect(() => {
      post("socket_end", this.id);
      callback();
    });
  }

  override _destroy(error: Error | null, callback: Done): void {
    guest.clearTimeout(this.#timer);
    this.connecting = false;
    if (this.id > 0) {
      disownSocket(this.id);
      post("socket_destroy", this.id);
    }
    const lost = this.#written;
    this.#written = [];
    for (const done of lost) done(error ?? nodeError("ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
    callback(error);
    // Node's `close` of a socket says whether it failed; it comes after `error`.
    nextTick(() => this.emit("close", error !== null));
  }

  /** Called by the host; not part of Node's interface. */
  handleHostEvent(event: string, value: unknown): void {
    this.#touch();
    switch (event) {
      case "connect":
        return this.onPeer(value as Peer); // made by the host's `socket`
      case "secure":
        return this.onSecure(value);
      case "data":
        return this.#onData(value as Uint8Array<ArrayBuffer>);
      case "written":
        for (let count = value as number; count > 0; count--) this.#written.shift()?.();
        return;
      case "end":
        this.push(null);
        // Without a reader, the end must still be noticed.
        if (this.readableFlowing === null) this.read(0);
        return;
      case "error":
        return this.#onError(value as { message: string; code?: string });
      case "close":
        return this.#onClosed();
    }
  }

  /** Opens the host's connection. `tls`: it speaks TLS from the start. */
  protected open(host: string, port: number, tls: TlsSettings | undefined): void {
    this.peerHost = host;
    this.connecting = true;
    this.id = openSocket(this, { host, port, tls: tls ?? null });
  }

  protected onPeer(peer: Peer): void {
    this.remoteAddress = peer.address;
    this.remotePort = peer.port;
    this.remoteFamily = peer.family;
    this.established();
    this.emit("connect");
    this.emit("ready");
  }

  protected onSecure(_state: unknown): void {}

  /** Connected: flushes what was written so far. */
  protected established(): void {
    this.connecting = false;
    const waiting = this.#whenConnected;
    this.#whenConnected = [];
    for (const proceed of waiting) proceed();
  }

  /** Takes over the connection of another socket, which is left without one (STARTTLS). */
  protected adopt(other: Socket): void {
    this.id = other.id;
    this.peerHost = other.peerHost;
    this.remoteAddress = other.remoteAddress;
    this.remotePort = other.remotePort;
    this.remoteFamily = other.remoteFamily;
    this.connecting = true;
    ownSocket(this.id, this);
    other.id = 0;
  }

  #afterConnect(proceed: () => void): void {
    if (this.connecting || this.id === 0) this.#whenConnected.push(proceed);
    else proceed();
  }

  #onData(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytesRead += bytes.byteLength;
    if (!this.push(asBuffer(bytes))) post("socket_pause", this.id);
  }

  /** Data that arrived before the close is read first. */
  #onClosed(): void {
    if (this.destroyed) return;
    if (!this.readableEnded) this.push(null);
    if (this.readableLength > 0) this.once("end", () => this.destroy());
    else nextTick(() => this.destroy());
  }

  #onError({ message, code }: { message: string; code?: string }): void {
    const [, syscall] = /^(connect|getaddrinfo|read|write) E/.exec(message) ?? [];
    this.destroy(Object.assign(nodeError(code ?? "ECONNRESET", message), syscall === undefined ? {} : { syscall }));
  }

  #touch(): void {
    guest.clearTimeout(this.#timer);
    if (this.timeout === undefined || this.timeout <= 0 || this.destroyed) return;
    this.#timer = guest.setTimeout(() => this.emit("timeout"), this.timeout).unref();
  }
}

/** `(options, listener?)`, `(port, host?, listener?)`. */
export function parseConnectArguments(args: readonly unknown[]): {
  readonly options: ConnectOptions;
  readonly listener: (() => void) | undefined;
} {
  const [first, second] = args;
  const listener = args.find((one) => typeof one === "function") as (() => void) | undefined;
  if (typeof first === "object" && first !== null) return { options: first as ConnectOptions, listener };
  const isPath = typeof first === "string" && !/^\d+$/.test(first);
  const more = args.find((one, index) => index > 0 && typeof one === "object" && one !== null) as ConnectOptions | undefined;
  return {
    options: {
      ...more,
      ...(isPath ? { path: first } : { port: first as number }),
      ...(typeof second === "string" ? { host: second } : {}),
    },
    listener,
  };
}

const noServers = "a component cannot listen; give it an HTTP trigger ($.interface.http)";

const Server = unsupportedClass("net.Server", noServers, EventEmitter);

function connect(...args: unknown[]): Socket {
  return new Socket(parseConnectArguments(args).options as object).connect(...args);
}

/** `node:net`: a client. */
export default {
  Socket,
  Stream: Socket,
  Server,
  connect,
  createConnection: connect,
  createServer: unsupportedFunction("net", "createServer", noServers),
  isIP,
  isIPv4,
  isIPv6,
  getDefaultAutoSelectFamily: (): boolean => true,
  setDefaultAutoSelectFamily: (): void => {},
  getDefaultAutoSelectFamilyAttemptTimeout: (): number => 250,
  setDefaultAutoSelectFamilyAttemptTimeout: (): void => {},
};
