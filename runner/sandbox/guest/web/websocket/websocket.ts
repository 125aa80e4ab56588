import { post } from "../../runtime/bridge.ts";
import { clearTimer, setTimeout } from "../../runtime/timers.ts";
import { Blob } from "../fetch/blob.ts";
import { toBytes, type Bytes } from "../encoding/bytes.ts";
import { tag } from "../define.ts";
import { DOMException } from "../events/dom-exception.ts";
import { defineHandler, ErrorEvent, Event, EventTarget, MessageEvent } from "../events/event-target.ts";
import { Headers } from "../fetch/headers.ts";
import { disownSocket, openSocket, type SocketOwner } from "./raw-socket.ts";
import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";
import { encodeFrame, FrameReader, MessageReader, opcodes, type Frame } from "./websocket-frames.ts";
import { Handshake, parseUrl, randomBytes } from "./websocket-handshake.ts";

interface CloseInit {
  readonly wasClean?: boolean;
  readonly code?: number;
  readonly reason?: string;
}

export class CloseEvent extends Event {
  readonly wasClean: boolean;
  readonly code: number;
  readonly reason: string;
  constructor(type: unknown, init: CloseInit = {}) {
    super(type, init as object);
    this.wasClean = init.wasClean ?? false;
    this.code = init.code ?? 0;
    this.reason = init.reason ?? "";
  }
}

interface WebSocketOptions {
  readonly protocols?: string | readonly string[];
  readonly headers?: unknown;
}

const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
const closeTimeoutMs = 3_000;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** WHATWG WebSockets, and the options that Node takes: `protocols`, `headers`. Messages are not compressed. */
export class WebSocket extends EventTarget {
  declare onopen: unknown;
  declare onmessage: unknown;
  declare onerror: unknown;
  declare onclose: unknown;
  binaryType = "blob";
  readonly extensions = "";
  readonly #url: ReturnType<typeof parseUrl>;
  readonly #headers: readonly (readonly [string, string])[];
  readonly #handshake: Handshake;
  readonly #frames = new FrameReader();
  readonly #messages = new MessageReader();
  readonly #id: number;
  #state: number = states.CONNECTING;
  #protocol = "";
  #buffered = 0;
  #sent: number[] = [];
  #closing: Required<CloseInit> | undefined;
  #timer: unknown;
  #isFailing = false;
  #outgoing: Promise<void> = Promise.resolve();
  /** Reading waits once for a digest; operations run in sequence. */
  #work: Promise<void> = Promise.resolve();

  constructor(url: unknown, given: string | readonly string[] | WebSocketOptions = []) {
    super();
    const options: WebSocketOptions =
      typeof given === "string" || Array.isArray(given) ? { protocols: given } : (given as WebSocketOptions);
    const protocols = [options.protocols ?? []].flat().map(String);
    this.#url = parseUrl(url);
    if (new Set(protocols.map((each) => each.toLowerCase())).size < protocols.length || protocols.some((each) => !token.test(each)))
      throw new DOMException("Invalid Sec-WebSocket-Protocol value", "SyntaxError");
    this.#headers = [...new Headers(options.headers as never)];
    this.#handshake = new Handshake(this.#url, protocols);
    const isSecure = this.#url.protocol === "wss:";
    const host = this.#url.hostname.replace(/^\[|\]$/g, "");
    const target = { host, port: Number(this.#url.port || (isSecure ? 443 : 80)), tls: isSecure ? {} : null };
    const owner: SocketOwner = {
      handleHostEvent: (event, value) => {
        if (event === (isSecure ? "secure" : "connect")) post("socket_write", this.#id, this.#handshake.request(this.#headers));
        else if (event === "data") this.#then(() => this.#read(value as Bytes));
        else if (event === "written") for (let count = value as number; count > 0; count--) this.#buffered -= this.#sent.shift() ?? 0;
        else if (event === "error") this.#then(async () => this.#fail((value as { message: string }).message));
        else if (event === "end" || event === "close") this.#then(async () => this.#finish());
      },
    };
    this.#id = openSocket(owner, target);
  }

  get url(): string {
    return this.#url.href;
  }
  get readyState(): number {
    return this.#state;
  }
  get protocol(): string {
    return this.#protocol;
  }
  get bufferedAmount(): number {
    return this.#buffered;
  }

  send(data: unknown): void {
    if (this.#state === states.CONNECTING) throw new DOMException("Sent before connected.", "InvalidStateError");
    if (this.#state !== states.OPEN) return;
    if (data instanceof Blob) return this.#later(opcodes.binary, async () => new Uint8Array(await data.arrayBuffer()));
    const isBinary = ArrayBuffer.isView(data) || data instanceof ArrayBuffer;
    // A copy: the caller may reuse its buffer.
    const payload = isBinary ? toBytes(data).slice() : encodeUtf8(String(data));
    this.#later(isBinary ? opcodes.binary : opcodes.text, async () => payload);
  }

  close(code?: number, reason = ""): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999))
      throw new DOMException("invalid code", "InvalidAccessError");
    const text = encodeUtf8(String(reason));
    if (text.length > 123) throw new DOMException(`Reason must be less than 123 bytes; received ${text.length}`, "SyntaxError");
    if (this.#state === states.CONNECTING) return this.#fail("WebSocket was closed before it was established.");
    if (this.#state !== states.OPEN) return;
    this.#state = states.CLOSING;
    const payload = code === undefined ? new Uint8Array(0) : Uint8Array.from([code >> 8, code & 255, ...text]);
    this.#later(opcodes.close, async () => payload);
    this.#timer = setTimeout(() => this.#finish(), closeTimeoutMs).unref();
  }

  #then(step: () => Promise<void>): void {
    this.#work = this.#work
      .then(step)
      .catch((error: unknown) => this.#fail((error as Error).message, (error as { closeCode?: number }).closeCode));
  }

  /** Frames are sent in the order of the calls, although a Blob must be read first. */
  #later(opcode: number, payload: () => Promise<Bytes>): void {
    this.#outgoing = this.#outgoing.then(async () => {
      const bytes = await payload();
      if (this.#state !== states.CLOSED) this.#write(opcode, bytes);
    });
  }

  #write(opcode: number, payload: Bytes): void {
    this.#buffered += payload.length;
    this.#sent.push(payload.length);
    post("socket_write", this.#id, encodeFrame(opcode, payload, randomBytes(4)));
  }

  async #read(bytes: Bytes): Promise<void> {
    if (this.#state === states.CLOSED) return;
    let data = bytes;
    if (this.#state === states.CONNECTING) {
      const agreed = await this.#handshake.read(bytes);
      if (agreed === undefined || this.#state !== states.CONNECTING) return;
      this.#protocol = agreed.protocol;
      this.#state = states.OPEN;
      this.#sent = [];
      this.dispatchEvent(new Event("open"));
      data = agreed.rest;
    }
    for (const frame of this.#frames.read(data)) this.#take(frame);
  }

  #take(frame: Frame): void {
    const { opcode, payload } = frame;
    if (opcode === opcodes.ping) this.#write(opcodes.pong, payload);
    if (opcode === opcodes.close) return this.#takeClose(payload);
    if (opcode >= 8) return;
    const message = this.#messages.read(frame);
    if (message === undefined || this.#state !== states.OPEN) return;
    const binary = this.binaryType === "arraybuffer" ? message.payload.buffer : new Blob([message.payload]);
    const data = message.isText ? decodeUtf8(message.payload, true) : binary;
    this.dispatchEvent(new MessageEvent("message", { data, origin: this.#url.origin }));
  }

  #takeClose(payload: Bytes): void {
    const code = payload.length < 2 ? 1005 : ((payload[0] ?? 0) << 8) | (payload[1] ?? 0);
    this.#closing = { wasClean: true, code, reason: decodeUtf8(payload.subarray(2)) };
    if (this.#state === states.OPEN) this.#write(opcodes.close, payload.subarray(0, 2).slice());
    this.#state = states.CLOSING;
    // Flushes written data first; then the server ends its side.
    post("socket_end", this.#id);
    this.#timer ??= setTimeout(() => this.#finish(), closeTimeoutMs).unref();
  }

  #fail(message: string, code = 1006): void {
    if (this.#state === states.CLOSED || this.#isFailing) return;
    this.#isFailing = true;
    this.#closing ??= { wasClean: false, code, reason: "" };
    this.#state = states.CLOSING;
    setTimeout(() => {
      this.dispatchEvent(new ErrorEvent("error", { message, error: new Error(message) }));
      this.#isFailing = false;
      this.#finish();
    }, 0);
  }

  #finish(): void {
    if (this.#state === states.CLOSED || this.#isFailing) return;
    this.#state = states.CLOSED;
    clearTimer(this.#timer);
    disownSocket(this.#id);
    post("socket_destroy", this.#id);
    this.dispatchEvent(new CloseEvent("close", this.#closing ?? { wasClean: false, code: 1006, reason: "" }));
  }
}

for (const type of ["open", "message", "error", "close"]) defineHandler(WebSocket.prototype, type);
for (const [name, value] of Object.entries(states)) {
  for (const target of [WebSocket, WebSocket.prototype]) Object.defineProperty(target, name, { value, enumerable: true });
}
tag(WebSocket, "WebSocket");
tag(CloseEvent, "CloseEvent");
