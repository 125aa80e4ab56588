import { setTimeout } from "../../runtime/timers.ts";
import { DOMException } from "./dom-exception.ts";
import { defineHandler, Event, EventTarget } from "./event-target.ts";
import { tag } from "../define.ts";

const internal = Symbol("internal");

interface State {
  aborted: boolean;
  reason: unknown;
}

// Written by a static block below: only a controller may abort a signal.
let abort: (signal: AbortSignal, reason: unknown) => void;

export class AbortSignal extends EventTarget {
  readonly #state: State = { aborted: false, reason: undefined };
  declare onabort: ((event: Event) => unknown) | null;

  constructor(key?: typeof internal) {
    if (key !== internal) throw Object.assign(new TypeError("Illegal constructor"), { code: "ERR_ILLEGAL_CONSTRUCTOR" });
    super();
  }

  get aborted(): boolean {
    return this.#state.aborted;
  }
  get reason(): unknown {
    return this.#state.reason;
  }
  throwIfAborted(): void {
    if (this.#state.aborted) throw this.#state.reason;
  }

  static abort(reason: unknown = abortError()): AbortSignal {
    const signal = new AbortSignal(internal);
    abort(signal, reason);
    return signal;
  }

  static timeout(delayMs: number): AbortSignal {
    if (typeof delayMs !== "number" || !(delayMs >= 0) || delayMs > Number.MAX_SAFE_INTEGER) {
      throw Object.assign(new RangeError(`The value of "delay" is out of range. Received ${String(delayMs)}`), {
        code: "ERR_OUT_OF_RANGE",
      });
    }
    const signal = new AbortSignal(internal);
    setTimeout(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), delayMs).unref();
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const sources = [...signals];
    const wrong = sources.findIndex((source) => !(source instanceof AbortSignal));
    if (wrong >= 0)
      throw Object.assign(new TypeError(`The "signals[${wrong}]" argument must be an instance of AbortSignal.`), {
        code: "ERR_INVALID_ARG_TYPE",
      });
    const signal = new AbortSignal(internal);
    const aborted = sources.find((source) => source.aborted);
    if (aborted !== undefined) {
      abort(signal, aborted.reason);
      return signal;
    }
    for (const source of sources) source.addEventListener("abort", () => abort(signal, source.reason), { once: true });
    return signal;
  }

  static {
    abort = (signal, reason) => {
      if (signal.#state.aborted) return;
      signal.#state.aborted = true;
      signal.#state.reason = reason;
      signal.dispatchEvent(new Event("abort"));
    };
  }
}

export class AbortController {
  readonly #signal = new AbortSignal(internal);
  get signal(): AbortSignal {
    return this.#signal;
  }
  abort(reason: unknown = abortError()): void {
    abort(this.#signal, reason);
  }
}

function abortError(): DOMException {
  return new DOMException("This operation was aborted", "AbortError");
}

defineHandler(AbortSignal.prototype, "abort");
tag(AbortSignal, "AbortSignal");
tag(AbortController, "AbortController");
