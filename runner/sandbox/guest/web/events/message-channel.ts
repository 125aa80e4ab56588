import { setImmediate } from "../../runtime/timers.ts";
import { tag } from "../define.ts";
import { defineHandler, EventTarget, MessageEvent } from "./event-target.ts";
import { structuredClone } from "../structured-clone.ts";

interface Side {
  other: MessagePort | undefined;
  started: boolean;
  closed: boolean;
  queue: unknown[];
}

let link: (one: MessagePort, other: MessagePort) => void;

/** HTML, "message ports", within one isolate. Messages wait until the port is started, as `onmessage` does by itself. */
export class MessagePort extends EventTarget {
  readonly #side: Side = { other: undefined, started: false, closed: false, queue: [] };
  declare onmessage: ((event: MessageEvent) => unknown) | null;

  postMessage(message: unknown, options?: unknown): void {
    const data = structuredClone(
      message,
      Array.isArray(options) ? { transfer: options } : (options as { transfer?: unknown[] } | undefined),
    );
    const { other } = this.#side;
    if (other === undefined || this.#side.closed) return;
    other.#side.queue.push(data);
    if (other.#side.started) setImmediate(() => other.#deliver());
  }
  start(): void {
    if (this.#side.started) return;
    this.#side.started = true;
    for (const _ of this.#side.queue) setImmediate(() => this.#deliver());
  }
  close(): void {
    this.#side.closed = true;
    if (this.#side.other !== undefined) this.#side.other.#side.closed = true;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  on(type: string, listener: (data: unknown) => void): this {
    this.addEventListener(type, (event) => listener(event instanceof MessageEvent ? event.data : event));
    this.start();
    return this;
  }

  #deliver(): void {
    if (this.#side.queue.length === 0) return;
    this.dispatchEvent(new MessageEvent("message", { data: this.#side.queue.shift() }));
  }

  static {
    link = (one, other) => {
      one.#side.other = other;
      other.#side.other = one;
    };
  }
}

export class MessageChannel {
  readonly port1 = new MessagePort();
  readonly port2 = new MessagePort();
  constructor() {
    link(this.port1, this.port2);
  }
}

defineHandler(MessagePort.prototype, "message", (target) => {
  if (target instanceof MessagePort) target.start();
});
tag(MessagePort, "MessagePort");
tag(MessageChannel, "MessageChannel");
