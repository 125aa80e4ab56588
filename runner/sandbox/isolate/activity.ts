import type { RunError } from "../../../domain/run-products.ts";
import { limits } from "../limits.ts";
import { fileLimits } from "../../../domain/files/run-files.ts";
import { bytesGivenTo } from "../operations/call-bytes.ts";
import type { OperationContext } from "../operations/index.ts";
import type { Network } from "../operations/index.ts";
import { ProductCollector } from "./products.ts";
import { forged, limitError, parseRunError } from "./run-error.ts";
import { isJson, weigh } from "../message-size.ts";
import type { OnResponse } from "../port.ts";

export type Ending =
  | { readonly outcome: "done"; readonly value: string | null }
  | { readonly outcome: "threw"; readonly error: RunError }
  /** Its context has ended. `endedIsolate`, `costProcess`: so has its isolate, so has its process. */
  | { readonly outcome: "limited"; readonly error: RunError; readonly endedIsolate?: boolean; readonly costProcess?: boolean }
  /** Its isolate was disposed because of another context: it can be repeated. */
  | { readonly outcome: "interrupted" };

/** What a run may give to these operations beside its other messages, bytes. */
const maxApart = { file_write: fileLimits.runBytes, respond_piece: limits.streamedBytes } as const;

export type ActivityKind = "load" | "describe" | "run" | "configure";

/** The functions of its isolate that an activity uses. */
export interface Entrances {
  deliver(activity: Activity, kind: string, args: readonly unknown[]): Promise<void>;
  /** Called when an activity has ended outside of an entry. */
  rest(activity: Activity): void;
  readonly network: Network;
  readonly owner: string;
  readonly state: Map<string, unknown>;
}

/**
 * One activity of an isolate: it evaluates its bundle, describes itself, or runs. The activity owns the budget of the bridge, the wake-up
 * timer, calls in flight and products. Messages that arrive after its end are dropped.
 */
export class Activity implements OperationContext {
  readonly kind: ActivityKind;
  readonly products: ProductCollector;
  readonly startedAt = performance.now();
  readonly #entrances: Entrances;
  readonly #onResponse: OnResponse | undefined;
  /** Created when an operation asks for it: most runs end without one, and it costs as much as an entry into an isolate. */
  #abort: AbortController | undefined;
  #ending: Ending | undefined;
  #messages = 0;
  #bytes = 0;
  /** Of parts of files, and of pieces of a response: these do not count as `#bytes` up to what a run may store, and answer. */
  readonly #apart = { file_write: 0, respond_piece: 0 };
  #syncCalls = 0;
  #callsInFlight = 0;
  #rejection: RunError | undefined;
  #wake: NodeJS.Timeout | undefined;
  #loadWait: NodeJS.Timeout | undefined;
  #wakeNow: NodeJS.Immediate | undefined;
  /** Sockets and the like live on without a call in flight; then silence proves nothing. */
  #usedConnections = false;

  constructor(kind: ActivityKind, entrances: Entrances, products: ProductCollector, onResponse?: OnResponse) {
    this.kind = kind;
    this.#entrances = entrances;
    this.products = products;
    this.#onResponse = onResponse;
  }

  get ending(): Ending | undefined {
    return this.#ending;
  }

  get network(): Network {
    return this.#entrances.network;
  }

  get owner(): string {
    return this.#entrances.owner;
  }

  get state(): Map<string, unknown> {
    return this.#entrances.state;
  }

  /** Aborts at the end. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#ending !== undefined) this.#abort.abort();
    return this.#abort.signal;
  }

  /** True if no call, timer or connection is left that could enter the isolate again: the activity will not end by itself. */
  get isStalled(): boolean {
    return this.#callsInFlight === 0 && this.#wake === undefined && this.#wakeNow === undefined && !this.#usedConnections;
  }

  deliver(kind: string, ...args: unknown[]): void {
    // A caller that does not wait cannot react to a disposed isolate either.
    this.deliverAndWait(kind, ...args).catch(() => {});
  }

  async deliverAndWait(kind: string, ...args: unknown[]): Promise<void> {
    if (this.#ending !== undefined) throw new Error("the run has ended");
    await this.#entrances.deliver(this, kind, args);
  }

  /** The first ending counts, except that a limit overrides a result. */
  end(ending: Ending): void {
    if (this.#ending !== undefined && ending.outcome !== "limited") return;
    this.#ending = ending;
    clearTimeout(this.#loadWait);
    clearTimeout(this.#wake);
    clearImmediate(this.#wakeNow);
    this.#wake = undefined;
    this.#wakeNow = undefined;
    this.#abort?.abort();
  }

  /**
   * Ends with an error that nothing in the component handles. It also replaces the result of a run that has just returned: a promise may
   * be rejected in the last entry, and is known to be unhandled only after it. While a module loads, such a promise may be one that it made
   * and left alone: it counts only when the module does not register.
   */
  fail(error: RunError): void {
    if (this.kind === "load") this.#rejection ??= error;
    else if (this.kind === "run" && this.#ending?.outcome === "done") this.#ending = { outcome: "threw", error };
    else this.end({ outcome: "threw", error });
  }

  /** Nothing is left that could go on. */
  endStalled(error: RunError): void {
    this.end(this.#rejection === undefined ? { outcome: "limited", error } : { outcome: "threw", error: this.#rejection });
  }

  /** Accounts for one message; returns whether it may be taken. */
  admit(message: readonly unknown[]): boolean {
    this.#messages += 1;
    this.#bytes += weigh(message);
    for (const operation of ["file_write", "respond_piece"] as const) {
      const apart = Math.min(bytesGivenTo(operation, message), maxApart[operation] - this.#apart[operation]);
      this.#apart[operation] += apart;
      this.#bytes -= apart;
    }
    if (this.#messages <= limits.bridgeMessages && this.#bytes <= limits.bridgeBytes) return true;
    this.end({
      outcome: "limited",
      error: limitError(
        "bridge_limit",
        `more than ${limits.bridgeMessages} messages or ${limits.bridgeBytes} bytes left the isolate during one run`,
      ),
    });
    return false;
  }

  admitSyncCall(): boolean {
    this.#syncCalls += 1;
    if (this.#syncCalls <= limits.syncCalls) return true;
    this.end({
      outcome: "limited",
      error: limitError("bridge_limit", `more than ${limits.syncCalls} synchronous calls (crypto, random, zlib) in one run`),
    });
    return false;
  }

  /** Takes a message of the runtime; false when it is none of its kinds. */
  take(kind: string, args: readonly unknown[]): boolean {
    switch (kind) {
      case "emit":
        this.#limit(this.products.addEmit(args));
        return true;
      case "log":
        this.products.addLog(args);
        return true;
      case "db":
        this.#limit(this.products.addDbChange(args));
        return true;
      case "respond":
        this.#respond(args);
        return true;
      case "export":
      case "flow":
      case "send":
      case "inputs":
      case "files":
        this.#takeOfAction(kind, args);
        return true;
      case "wake":
        this.#setWake(args[0]);
        return true;
      case "registered":
        if (this.kind === "load") this.#settleLoad();
        return true;
      case "described":
        if (this.kind === "describe") this.end({ outcome: "done", value: boundedText(args[0], limits.descriptionCharacters) });
        return true;
      case "done":
        if (this.kind === "run") this.#return(args[0]);
        return true;
      case "configured":
        if (this.kind === "configure") this.end({ outcome: "done", value: jsonText(args[0], limits.descriptionCharacters) });
        return true;
      case "failed":
        this.end({ outcome: "threw", error: parseRunError(args[0], args[1], args[2], args[3]) });
        return true;
      case "uncaught":
        this.fail(parseRunError(args[0], args[1], args[2], args[3]));
        return true;
      default:
        return false;
    }
  }

  /** False ends the run: the guest refuses more calls by itself, since to answer each of a hundred thousand would take the host seconds. */
  beginCall(): boolean {
    if (this.#callsInFlight >= limits.callsInFlight) {
      const error = limitError("bridge_limit", `more than ${limits.callsInFlight} calls of a run were in flight`);
      this.end({ outcome: "limited", error });
      return false;
    }
    this.#callsInFlight += 1;
    return true;
  }

  endCall(): void {
    this.#callsInFlight -= 1;
    if (this.#loadWait !== undefined && this.#callsInFlight === 0) this.end({ outcome: "done", value: null });
  }

  noteConnection(): void {
    this.#usedConnections = true;
  }

  /** A module may begin a request at its top level and have its runs await it: those get a while to end. */
  #settleLoad(): void {
    const done = (): void => this.end({ outcome: "done", value: null });
    if (this.#callsInFlight === 0) return done();
    this.#loadWait = setTimeout(() => {
      done();
      this.#entrances.rest(this);
    }, limits.loadCallsMs);
  }

  #limit(error: RunError | undefined): void {
    if (error !== undefined) this.end({ outcome: "limited", error });
  }

  /** What only actions send. */
  #takeOfAction(kind: "export" | "flow" | "send" | "inputs" | "files", args: readonly unknown[]): void {
    const { action } = this.products;
    if (action === undefined) return this.#limit(forged(kind));
    const { addExport, addFlow, addSend, addInputs, addFiles } = action;
    const add = { export: addExport, flow: addFlow, send: addSend, inputs: addInputs, files: addFiles }[kind];
    this.#limit(add.call(action, args));
  }

  #return(result: unknown): void {
    const { action } = this.products;
    const error = this.#ending === undefined ? action?.addResult(result) : undefined;
    if (error !== undefined) return this.#limit(error);
    this.end({ outcome: "done", value: jsonText(result, action === undefined ? limits.resultCharacters : limits.actionResultCharacters) });
  }

  #respond(args: readonly unknown[]): void {
    if (this.products.action !== undefined) {
      const { announced, error } = this.products.addActionResponse(args);
      if (announced !== undefined) this.#onResponse?.(announced);
      return this.#limit(error);
    }
    const { announced, error } = this.products.addResponse(args);
    if (announced !== undefined) this.#onResponse?.(announced);
    this.#limit(error);
  }

  #setWake(delayMs: unknown): void {
    clearTimeout(this.#wake);
    clearImmediate(this.#wakeNow);
    this.#wake = undefined;
    this.#wakeNow = undefined;
    if (typeof delayMs !== "number" || !(delayMs >= 0) || this.#ending !== undefined) return;
    const wake = (): void => {
      this.#wake = undefined;
      this.#wakeNow = undefined;
      this.deliver("wake");
    };
    if (delayMs < 1) this.#wakeNow = setImmediate(wake);
    else this.#wake = setTimeout(wake, Math.min(delayMs, 2 ** 31 - 1));
  }
}

/** Null for everything that is no JSON: a result is shown, nothing depends on it. */
function jsonText(value: unknown, limit: number): string | null {
  const text = boundedText(value, limit);
  return text !== null && isJson(text) ? text : null;
}

function boundedText(value: unknown, limit: number): string | null {
  return typeof value === "string" && value.length <= limit ? value : null;
}
