import { tag } from "../define.ts";

interface EventInit {
  readonly bubbles?: boolean;
  readonly cancelable?: boolean;
  readonly composed?: boolean;
}

type Phase = "stop_immediate" | "dispatching" | "canceled" | "stopped" | "passive";

// Written by a static block below: private to this file, so that it cannot be called on a forged event.
let beginDispatch: (event: Event, target: EventTarget) => void;
let endDispatch: (event: Event) => void;
let setPassive: (event: Event, isPassive: boolean) => void;
let isStopped: (event: Event) => boolean;

/** DOM Standard, section 2.2, without a tree: a target has no parent. */
export class Event {
  readonly #type: string;
  readonly #init: EventInit;
  readonly #timeStamp = Date.now();
  readonly #flags = new Set<Phase>();
  #target: EventTarget | null = null;

  constructor(type: unknown, init: EventInit | null | undefined = {}) {
    if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
    this.#type = String(type);
    this.#init = init ?? {};
  }

  get type(): string {
    return this.#type;
  }
  get target(): EventTarget | null {
    return this.#target;
  }
  get srcElement(): EventTarget | null {
    return this.#target;
  }
  get currentTarget(): EventTarget | null {
    return this.#flags.has("dispatching") ? this.#target : null;
  }
  get eventPhase(): number {
    return this.#flags.has("dispatching") ? 2 : 0;
  }
  get bubbles(): boolean {
    return Boolean(this.#init.bubbles);
  }
  get cancelable(): boolean {
    return Boolean(this.#init.cancelable);
  }
  get composed(): boolean {
    return Boolean(this.#init.composed);
  }
  get defaultPrevented(): boolean {
    return this.#flags.has("canceled");
  }
  get returnValue(): boolean {
    return !this.defaultPrevented;
  }
  get cancelBubble(): boolean {
    return this.#flags.has("stopped");
  }
  set cancelBubble(value: boolean) {
    if (value) this.#flags.add("stopped");
  }
  get isTrusted(): boolean {
    return false;
  }
  get timeStamp(): number {
    return this.#timeStamp;
  }
  composedPath(): EventTarget[] {
    return this.#flags.has("dispatching") && this.#target !== null ? [this.#target] : [];
  }
  preventDefault(): void {
    if (this.cancelable && !this.#flags.has("passive")) this.#flags.add("canceled");
  }
  stopPropagation(): void {
    this.#flags.add("stopped");
  }
  stopImmediatePropagation(): void {
    this.#flags.add("stopped").add("stop_immediate");
  }

  static {
    beginDispatch = (event, target) => {
      if (event.#flags.has("dispatching")) throw new TypeError("The event is already being dispatched");
      event.#target = target;
      event.#flags.add("dispatching");
    };
    endDispatch = (event) => {
      for (const flag of ["dispatching", "stopped", "stop_immediate"] as const) event.#flags.delete(flag);
    };
    setPassive = (event, isPassive) => {
      if (isPassive) event.#flags.add("passive");
      else event.#flags.delete("passive");
    };
    isStopped = (event) => event.#flags.has("stop_immediate");
  }
}

export class CustomEvent extends Event {
  readonly #detail: unknown;
  constructor(type: unknown, init: EventInit & { detail?: unknown } = {}) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail(): unknown {
    return this.#detail;
  }
}

export class MessageEvent extends Event {
  readonly data: unknown;
  readonly origin: string;
  readonly lastEventId: string;
  readonly source: unknown;
  readonly ports: readonly unknown[];
  constructor(
    type: unknown,
    init: EventInit & {
      data?: unknown;
      origin?: string;
      lastEventId?: string;
      source?: unknown;
      ports?: readonly unknown[];
    } = {},
  ) {
    super(type, init);
    this.data = init.data ?? null;
    this.origin = init.origin ?? "";
    this.lastEventId = init.lastEventId ?? "";
    this.source = init.source ?? null;
    this.ports = init.ports ?? [];
  }
}

export class ErrorEvent extends Event {
  readonly message: string;
  readonly error: unknown;
  constructor(type: unknown, init: EventInit & { message?: string; error?: unknown } = {}) {
    super(type, init);
    this.message = init.message ?? "";
    this.error = init.error;
  }
}

type Callback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };

interface Listener {
  readonly callback: Callback;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
}

interface ListenerOptions {
  readonly capture?: boolean;
  readonly once?: boolean;
  readonly passive?: boolean;
  readonly signal?: {
    readonly aborted: boolean;
    addEventListener(type: string, callback: () => void, options: object): void;
  };
}

export class EventTarget {
  readonly #listeners = new Map<string, Listener[]>();

  addEventListener(type: unknown, callback: Callback | null | undefined, options: ListenerOptions | boolean = {}): void {
    if (callback === null || callback === undefined) return;
    if (typeof callback !== "function" && typeof callback !== "object")
      throw new TypeError('The "listener" argument must be an instance of EventListener.');
    const {
      once = false,
      passive = false,
      signal,
      capture = false,
    } = typeof options === "boolean" ? { capture: options } : (options ?? {});
    if (signal?.aborted === true) return;
    const name = String(type);
    const known = this.#listeners.get(name) ?? [];
    if (known.some((listener) => listener.callback === callback && listener.capture === Boolean(capture))) return;
    // A new array: the one being walked by a dispatch stays as it was.
    this.#listeners.set(name, [...known, { callback, capture: Boolean(capture), once, passive, removed: false }]);
    signal?.addEventListener("abort", () => this.removeEventListener(name, callback, { capture }), { once: true });
  }

  removeEventListener(type: unknown, callback: Callback | null | undefined, options: { readonly capture?: boolean } | boolean = {}): void {
    const name = String(type);
    const capture = Boolean(typeof options === "boolean" ? options : options?.capture);
    const known = this.#listeners.get(name);
    const found = known?.find((listener) => listener.callback === callback && listener.capture === capture);
    if (known === undefined || found === undefined) return;
    found.removed = true;
    this.#listeners.set(
      name,
      known.filter((listener) => listener !== found),
    );
  }

  dispatchEvent(event: Event): boolean {
    if (!(event instanceof Event)) throw new TypeError('The "event" argument must be an instance of Event.');
    beginDispatch(event, this);
    for (const listener of this.#listeners.get(event.type) ?? []) {
      if (listener.removed) continue;
      if (listener.once) this.removeEventListener(event.type, listener.callback, listener);
      setPassive(event, listener.passive);
      call(this, listener.callback, event);
      if (isStopped(event)) break;
    }
    setPassive(event, false);
    endDispatch(event);
    return !event.defaultPrevented;
  }

  /** For `events.getEventListeners` of the Node layer. */
  [Symbol.for("headwater.listeners")](type: string): Callback[] {
    return (this.#listeners.get(type) ?? []).map((listener) => listener.callback);
  }
}

/** An error thrown by a listener fails the run, like an unhandled rejection. */
function call(target: EventTarget, callback: Callback, event: Event): void {
  try {
    if (typeof callback === "function") Reflect.apply(callback, target, [event]);
    else callback.handleEvent(event);
  } catch (error) {
    void Promise.reject(error);
  }
}

/** Adds an `on<type>` attribute: a listener that keeps its position when replaced (HTML, "event handlers"). */
export function defineHandler(prototype: EventTarget, type: string, onSet: (target: EventTarget) => void = () => {}): void {
  const current = new WeakMap<EventTarget, { value: unknown }>();
  Object.defineProperty(prototype, `on${type}`, {
    configurable: true,
    enumerable: true,
    get(this: EventTarget) {
      return current.get(this)?.value ?? null;
    },
    set(this: EventTarget, value: unknown) {
      const known = current.get(this);
      const handler = known ?? { value: null };
      handler.value = typeof value === "function" ? value : null;
      if (known === undefined) {
        current.set(this, handler);
        this.addEventListener(type, (event) =>
          typeof handler.value === "function" ? Reflect.apply(handler.value, this, [event]) : undefined,
        );
      }
      onSet(this);
    },
  });
}

for (const [name, type] of Object.entries({ Event, CustomEvent, MessageEvent, ErrorEvent, EventTarget })) tag(type, name);
for (const [name, value] of Object.entries({ NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 })) {
  for (const target of [Event, Event.prototype]) Object.defineProperty(target, name, { value, enumerable: true });
}
