import ivm from "isolated-vm";
import type { HttpResponse, RunError } from "../../domain/invocation.ts";
import { Activity, type ActivityKind, type Ending, type Entrances } from "./activity.ts";
import { entryError, limitOf, memoryError, stalledError, timeoutError, toGuestError } from "./isolate-errors.ts";
import { fairEgress } from "./fair-egress.ts";
import { limits } from "./limits.ts";
import { answerCall, performPost, performSync } from "./guest-calls.ts";
import type { Egress } from "./operations/index.ts";
import { type Collector, heapBytesOf, takeCollector } from "./isolate-memory.ts";
import type { IsolateOptions } from "./isolate-options.ts";
import { OpenEntries } from "./open-entries.ts";
import { newMessages } from "./outbox.ts";
import { type CachedData, produceCache, runPrelude } from "./prelude.ts";
import type { ProductCollector } from "./products.ts";
import { limitError, parseUncaught } from "./run-error.ts";

/** As stacks name the bundle. */
const bundleName = "component.js";

type Dispatch = ivm.Reference<(acknowledged: number, kind: string, ...args: unknown[]) => unknown>;
/**
 * One V8 isolate with the prelude in it. Every entry is started here, with a time limit; what the guest has to say comes back as the
 * entry's result, or through one synchronous callback when it is much. No Reference and no promise of ours is ever handed in.
 *
 * Life: created → `load` → any number of `perform`, one at a time → `dispose`. A limit disposes of it at once; `isSpent` tells
 * that it must not be used again.
 */
export class GuestIsolate implements Entrances {
  readonly egress: Egress;
  readonly state = new Map<string, unknown>();
  collectGarbage: Collector = () => Promise.resolve();
  /** Whose code it runs: shares in places to compute are theirs. */
  owner = "";
  readonly #options: IsolateOptions;
  readonly #isolate: ivm.Isolate;
  #context: ivm.Context | undefined;
  #dispatch: Dispatch | undefined;
  #acknowledged = 0;
  #entries = 0;
  /** Those that have a place to compute. */
  readonly #open: OpenEntries;
  #restsAfterDisposal: Promise<boolean> | undefined;
  #activity: Activity | undefined;
  #settle: (() => void) | undefined;
  #deadline = Infinity;
  #cpuMs = 0;
  #spent = false;
  #disposed = false;
  #catastrophe: string | undefined;

  private constructor(options: IsolateOptions) {
    this.#options = options;
    this.#open = new OpenEntries(options.slots);
    this.egress = fairEgress(options.egress, this, () => this.#disposed || this.#activity === undefined);
    this.#isolate = new ivm.Isolate({
      memoryLimit: options.memoryMb,
      onCatastrophicError: (message) => this.#onCatastrophe(message),
    });
  }

  static async create(options: IsolateOptions): Promise<GuestIsolate> {
    const guest = new GuestIsolate(options);
    try {
      guest.#context = await guest.#isolate.createContext();
      guest.collectGarbage = takeCollector(guest.#context);
      await runPrelude(guest.#isolate, guest.#context, options.prelude, options.needsNode);
      const callback = new ivm.Callback((...args: unknown[]) => guest.#onCallback(args), { sync: true });
      guest.#dispatch = await guest.#context.evalClosure("return globalThis.__bind($0)", [callback], {
        result: { reference: true },
        timeout: 1_000,
      });
    } catch (error) {
      guest.dispose();
      throw error;
    }
    return guest;
  }

  get isSpent(): boolean {
    return this.#spent || this.#disposed;
  }

  /** CPU time in ms since creation; of a dead isolate, as last seen. */
  cpuMs(): number {
    if (!this.#disposed && !this.#isolate.isDisposed) this.#cpuMs = Number(this.#isolate.cpuTime) / 1e6;
    return this.#cpuMs;
  }

  /** It computes, or would if there were a place: else what goes on in it waits for somebody else. */
  get isComputing(): boolean {
    return this.#entries > 0;
  }

  /** Bytes it holds now; enters the isolate. */
  heapBytes(): Promise<number> {
    return heapBytesOf(this.#isolate);
  }

  /** Compiles and evaluates a bundle, see the bundler: done when it has registered. */
  load(
    code: string,
    cachedData: CachedData | undefined,
    environment: Readonly<Record<string, string>>,
    timeoutMs: number,
    products: ProductCollector,
  ): Promise<Ending> {
    return this.#act("load", timeoutMs, products, undefined, (activity) => this.#evaluate(activity, code, cachedData, environment));
  }

  /** `kind` is the message that begins it. */
  perform(
    kind: Exclude<ActivityKind, "load">,
    args: readonly unknown[],
    timeoutMs: number,
    products: ProductCollector,
    onResponse?: (response: HttpResponse) => void,
  ): Promise<Ending> {
    return this.#act(kind, timeoutMs, products, onResponse, (activity) => this.deliver(activity, kind, args));
  }

  /** Code cache of a bundle that has run: holds the functions that were compiled lazily too. */
  codeCache(code: string): Promise<CachedData | undefined> {
    return produceCache(this.#isolate, code, bundleName);
  }

  limit(error: RunError): void {
    this.#activity?.end({ outcome: "limited", error });
    this.dispose();
    this.#settleNow();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.cpuMs();
    this.#disposed = true;
    this.#restsAfterDisposal = this.#watchDeath();
    if (this.#catastrophe === undefined && !this.#isolate.isDisposed) this.#isolate.dispose();
  }

  deliver(activity: Activity, kind: string, args: readonly unknown[]): Promise<void> {
    return this.#inside(activity, () => this.#call(kind, args));
  }

  async #act(
    kind: ActivityKind,
    timeoutMs: number,
    products: ProductCollector,
    onResponse: ((response: HttpResponse) => void) | undefined,
    begin: (activity: Activity) => Promise<void>,
  ): Promise<Ending> {
    const activity = new Activity(kind, this, products, onResponse);
    this.#activity = activity;
    this.#deadline = activity.startedAt + timeoutMs;
    const settled = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    const wall = setTimeout(() => this.limit(timeoutError(kind, timeoutMs)), timeoutMs);
    // `begin` reports what went wrong through the activity's ending.
    begin(activity).catch((error: unknown) => this.limit(limitError("sandbox_error", `the sandbox failed: ${String(error)}`)));
    await settled;
    clearTimeout(wall);
    this.#activity = undefined;
    const { ending } = activity;
    if (ending?.outcome === "limited") this.dispose();
    else if (ending !== undefined) return ending;
    const error = ending?.error ?? limitError("sandbox_error", "the isolate ended without an outcome");
    return { outcome: "limited", error, costProcess: !(await this.#restsAfterDisposal) || this.#catastrophe !== undefined };
  }

  #evaluate(
    activity: Activity,
    code: string,
    cachedData: CachedData | undefined,
    environment: Readonly<Record<string, string>>,
  ): Promise<void> {
    return this.#inside(activity, async (context) => {
      if (this.#options.needsNode) await this.#call("environment", [environment]);
      const script = await this.#isolate.compileScript(code, { filename: bundleName, ...(cachedData && { cachedData }) });
      // The script's value is a promise, which cannot cross and need not: it registers, or its rejection fails this entry or a later one.
      await script.run(context, { timeout: this.#entryMs(limits.loadMs), release: true });
      await this.#call("collect", []);
    });
  }

  /** Everything that happens inside happens here, so that there is one place that knows when the isolate has come to rest. */
  async #inside(activity: Activity, act: (context: ivm.Context) => Promise<void>): Promise<void> {
    const [slots, owner] = [this.#options.slots, this.owner];
    this.#entries += 1;
    await slots.take(owner);
    this.#open.begin();
    try {
      if (!this.#disposed && this.#context !== undefined) await act(this.#context);
    } catch (error) {
      await this.#onFailedEntry(activity, error);
    } finally {
      this.#open.end();
      this.#entries -= 1;
      slots.release(owner);
      this.rest(activity);
    }
  }

  async #call(kind: string, args: readonly unknown[]): Promise<void> {
    if (this.#disposed || this.#dispatch === undefined) return;
    const call = [this.#acknowledged, kind, ...args] as Parameters<Dispatch["apply"]>[1];
    const outbox: unknown = await this.#dispatch.apply(undefined, call, {
      arguments: { copy: true },
      result: { copy: true },
      timeout: this.#entryMs(limits.entryMs),
    });
    this.#takeOutbox(outbox);
  }

  rest(activity: Activity): void {
    if (this.#entries > 0 || activity !== this.#activity) return;
    if (activity.ending === undefined && activity.isStalled) activity.endStalled(stalledError(activity.kind));
    if (activity.ending !== undefined) this.#settleNow();
  }

  #settleNow(): void {
    this.#settle?.();
    this.#settle = undefined;
  }

  async #onFailedEntry(activity: Activity, error: unknown): Promise<void> {
    this.#spent = true;
    const limit = this.#catastrophe === undefined ? limitOf(error) : "memory";
    if (limit === "memory") activity.end({ outcome: "limited", error: memoryError(this.#options.memoryMb) });
    else if (limit === "time")
      activity.end({
        outcome: "limited",
        error: this.#timeLeftMs() > 0 ? entryError() : timeoutError(activity.kind, this.#deadline - activity.startedAt),
      });
    else if (!this.#disposed) {
      // An entry that throws returns no outbox. What is in it counts; a second failure has nothing to add.
      await this.#call("collect", []).catch(() => {});
      activity.fail(parseUncaught(error));
    }
    if (activity.ending?.outcome === "limited") this.dispose();
  }

  /** The synchronous callback: the only thing of ours the guest can call. Must not throw: the stack would cross. */
  #onCallback([operation, ...args]: readonly unknown[]): unknown {
    try {
      if (operation === "outbox") {
        this.#takeOutbox(args[0]);
        return this.#acknowledged;
      }
      return [true, performSync(this.#activity, String(operation), args)];
    } catch (error) {
      return [false, toGuestError(error)];
    }
  }

  #takeOutbox(outbox: unknown): void {
    for (const { sequence, kind, args, message } of newMessages(outbox, this.#acknowledged)) {
      this.#acknowledged = sequence;
      const activity = this.#activity;
      if (activity === undefined || activity.ending?.outcome === "limited") continue;
      if (activity.admit(message)) this.#takeMessage(activity, kind, args);
    }
    if (this.#activity?.ending?.outcome === "limited") this.dispose();
  }

  #takeMessage(activity: Activity, kind: string, args: readonly unknown[]): void {
    if (kind === "uncaught") this.#spent = true;
    if (activity.take(kind, args)) return;
    if (activity.ending !== undefined) return;
    if (kind === "call") {
      // Answers travel by their own entry; nothing is left to report here.
      void answerCall(activity, args).finally(() => this.rest(activity)); // Never rejects.
      return;
    }
    performPost(activity, kind, args);
  }

  #timeLeftMs(): number {
    return this.#deadline - performance.now();
  }

  #entryMs(limitMs: number): number {
    return Math.max(1, Math.min(limitMs, Math.ceil(this.#timeLeftMs())));
  }

  #onCatastrophe(message: string): void {
    this.#catastrophe = message;
    this.#open.lose();
    this.#disposed = true;
    this.#activity?.end({ outcome: "limited", error: memoryError(this.#options.memoryMb) });
    this.#settleNow();
    this.#options.onPoisoned(`V8 ran out of memory: ${message}`);
  }

  async #watchDeath(): Promise<boolean> {
    if (await this.#open.restWithin(limits.disposeMs)) return true;
    setImmediate(() => this.#options.onPoisoned("an entry goes on after its isolate was disposed of")); // After the run's outcome.
    return false;
  }
}
