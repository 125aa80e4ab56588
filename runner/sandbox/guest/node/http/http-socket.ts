import { EventEmitter } from "../events/events.ts";

/** The `request.socket` of a host connection: packages read its state and listen on it. */
export class HttpSocket extends EventEmitter {
  readonly encrypted: boolean;
  readonly authorized: boolean;
  readonly connecting = false;
  readonly pending = false;
  readonly readyState = "open";
  readonly alpnProtocol = false;
  readonly bytesRead = 0;
  readonly bytesWritten = 0;
  readonly remoteAddress: string | undefined = undefined;
  readonly remotePort: number | undefined = undefined;
  readonly localAddress: string | undefined = undefined;
  readable = true;
  writable = true;
  destroyed = false;
  readonly #setTimeout: (delayMs: number) => void;

  constructor(encrypted: boolean, setTimeout: (delayMs: number) => void) {
    super();
    this.encrypted = encrypted;
    this.authorized = encrypted;
    this.#setTimeout = setTimeout;
  }
  setTimeout(delayMs: number, listener?: () => void): this {
    if (listener !== undefined) this.once("timeout", listener);
    this.#setTimeout(delayMs);
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
    return this;
  }
  cork(): void {}
  uncork(): void {}
  address(): object {
    return {};
  }
  isSessionReused(): boolean {
    return false;
  }
  getPeerCertificate(): object {
    return {};
  }
  getSession(): undefined {}
  end(): this {
    return this;
  }
  destroySoon(): void {
    this.destroy();
  }
  destroy(): this {
    this.destroyed = true;
    this.readable = false;
    this.writable = false;
    return this;
  }
}
