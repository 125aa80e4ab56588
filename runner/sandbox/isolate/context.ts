import type ivm from "isolated-vm";
import type { RunError } from "../../../domain/run-products.ts";
import { Activity, type ActivityKind, type Ending, type Entrances } from "./activity.ts";
import { Bridge, type GuestMessage, type GuestRequests } from "./bridge.ts";
import { contextNetwork } from "./context-network.ts";
import { answerCall, performPost, performSync } from "./guest-calls.ts";
import { entryError, limitOf, memoryError, stalledError, timeoutError } from "./isolate-errors.ts";
import type { GuestIsolate, IsolateContext } from "./isolate.ts";
import type { Network, NetworkUser } from "../operations/index.ts";
import type { Bundle, OnResponse } from "../port.ts";
import type { ProductCollector } from "./products.ts";
import { limitError, parseUncaught } from "./run-error.ts";

/** Entries that may drain what a failed one left behind. */
const maxDrains = 3;

/**
 * One context of an isolate: the globals, module state, timers and connections of one source. Every entry is started here, with a
 * time limit.
 *
 * Life: `create` → `load` → any number of `perform`, one at a time → `drop`. A limit ends it at once: while it
 * computes, by disposing its isolate. `isSpent`: it must not be used again.
 */
export class GuestContext implements Entrances, GuestRequests, IsolateContext, NetworkUser {
  readonly isolate: GuestIsolate;
  readonly network: Network;
  /** The parent's number of the execution in progress; undefined between two. */
  execution: number | undefined;
  readonly state = new Map<string, unknown>();
  readonly #bridge = new Bridge(this);
  #context: ivm.Context | undefined;
  /** Those that wait for their turn included. */
  #entries = 0;
  #activity: Activity | undefined;
  #settle: (() => void) | undefined;
  #deadline = Infinity;
  #chargedCpuMs = 0;
  #isSpent = false;
  #isGone = false;
  /** A limit of its own had its isolate disposed. */
  #endedIsolate = false;

  private constructor(isolate: GuestIsolate) {
    this.isolate = isolate;
    this.network = contextNetwork(isolate.options.network, this);
  }

  /** @throws if the isolate is disposed, also by this: a heap that has no room for a context is of no use */
  static async create(isolate: GuestIsolate): Promise<GuestContext> {
    const context = new GuestContext(isolate);
    isolate.add(context);
    try {
      await isolate.enter(context, async () => {
        context.#context = await isolate.createContext();
        await context.#bridge.bind(context.#context);
      });
    } catch (error) {
      isolate.dispose();
      throw error;
    }
    if (context.#isGone) throw new Error("the isolate was disposed while a context was created");
    return context;
  }

  get owner(): string {
    return this.isolate.owner ?? "";
  }

  get isSpent(): boolean {
    return this.#isSpent || this.#isGone;
  }

  /** It computes, or would if it were its turn. Otherwise what runs in it waits for something outside. */
  get isComputing(): boolean {
    return this.#entries > 0;
  }

  /** CPU time of all of its entries so far, its creation included, ms. */
  cpuMs(): number {
    return this.#chargedCpuMs + this.isolate.openCpuMs(this);
  }

  charge(cpuMs: number): void {
    this.#chargedCpuMs += cpuMs;
  }

  /** Evaluates a bundle, see the bundler: done when it has registered. @throws if the bundle cannot be read */
  async load(
    bundle: Bundle,
    environment: Readonly<Record<string, string>>,
    timeoutMs: number,
    products: ProductCollector,
  ): Promise<Ending> {
    const code = await this.isolate.readBundle(bundle);
    return await this.#act("load", timeoutMs, products, undefined, (activity) =>
      this.#inside(activity, () => this.#evaluate(bundle, code, environment)),
    );
  }

  /** `kind` is the message that begins it. */
  perform(
    kind: Exclude<ActivityKind, "load">,
    args: readonly unknown[],
    timeoutMs: number,
    products: ProductCollector,
    onResponse?: OnResponse,
  ): Promise<Ending> {
    return this.#act(kind, timeoutMs, products, onResponse, (activity) => this.deliver(activity, kind, args));
  }

  deliver(activity: Activity, kind: string, args: readonly unknown[]): Promise<void> {
    return this.#inside(activity, () => this.#call(kind, args));
  }

  /** Ends its activity with the error of a limit. */
  limit(error: RunError): void {
    this.#activity?.end({ outcome: "limited", error });
    this.#stop(this.#bridge.isInside);
    this.#settleNow();
  }

  /** Its isolate was disposed. Unless its own activity was the reason, that can be repeated elsewhere. */
  interrupt(): void {
    this.#isGone = true;
    if (this.#activity?.ending === undefined) this.#activity?.end({ outcome: "interrupted" });
    this.#settleNow();
  }

  /**
   * The heap is full. In a heap that contexts share, the one that meets the limit need not be the one that fills it: its activity is
   * repeated in an isolate of its own, and only what meets the limit there has exceeded it.
   */
  runOutOfMemory(): void {
    const ending = { outcome: "limited", error: memoryError(this.isolate.options.memoryMb) } as const;
    this.#activity?.end(this.isolate.isShared ? { outcome: "interrupted" } : ending);
    this.#endedIsolate = true;
  }

  /** Releases it: V8 frees its memory when it collects. */
  drop(): void {
    if (this.#isGone) return;
    if (this.#bridge.isInside) return this.isolate.dispose();
    this.#isGone = true;
    this.state.clear();
    this.#bridge.release();
    this.#context?.release();
    this.isolate.remove(this);
  }

  async collectGarbage(): Promise<void> {
    await this.#bridge.call("collect_garbage", [], this.isolate.options.timeLimits.entryMs);
  }

  performSync(operation: string, args: readonly unknown[]): unknown {
    return performSync(this.#activity, operation, args);
  }

  takeMessages(messages: Iterable<GuestMessage>): void {
    for (const { kind, args, message } of messages) {
      const activity = this.#activity;
      if (activity === undefined || activity.ending?.outcome === "limited") continue;
      if (activity.admit(message)) this.#takeMessage(activity, kind, args);
    }
    if (this.#activity?.ending?.outcome === "limited") this.#stop(this.#bridge.isInside);
  }

  async #act(
    kind: ActivityKind,
    timeoutMs: number,
    products: ProductCollector,
    onResponse: OnResponse | undefined,
    begin: (activity: Activity) => Promise<void>,
  ): Promise<Ending> {
    if (this.#isGone) return { outcome: "interrupted" };
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
    const ending = activity.ending ?? { outcome: "limited", error: limitError("sandbox_error", "the isolate ended without an outcome") };
    if (ending.outcome !== "limited") return ending;
    this.#stop(this.#bridge.isInside);
    const endedIsolate = this.#endedIsolate;
    return { ...ending, endedIsolate, costProcess: endedIsolate && !(await this.isolate.cameToRest()) };
  }

  async #evaluate(bundle: Bundle, code: string | undefined, environment: Readonly<Record<string, string>>): Promise<void> {
    if (this.isolate.options.needsNode) await this.#call("environment", [environment]);
    const script = await this.isolate.compileBundle(bundle, code);
    const context = this.#context;
    if (context === undefined || this.#isGone) return;
    // The script's value is a promise, which cannot cross and need not: it registers, or its rejection fails this entry or a later one.
    await this.#bridge.inside(() => script.run(context, { timeout: this.#entryMs(this.isolate.options.timeLimits.loadMs) }));
    await this.#call("collect", []);
  }

  /** Everything that happens inside happens here, so that there is one place that knows when the context has come to rest. */
  async #inside(activity: Activity, act: () => Promise<void>): Promise<void> {
    this.#entries += 1;
    try {
      await this.isolate.enter(this, async () => {
        try {
          if (!this.#isGone) await act();
        } catch (error) {
          await this.#onFailedEntry(activity, error);
        }
      });
    } finally {
      this.#entries -= 1;
      this.rest(activity);
    }
  }

  async #call(kind: string, args: readonly unknown[]): Promise<void> {
    if (!this.#isGone) await this.#bridge.call(kind, args, this.#entryMs(this.isolate.options.timeLimits.entryMs));
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

  /** @param withIsolate the isolate cannot be used by other contexts either */
  #stop(withIsolate: boolean): void {
    if (this.#isGone) return;
    if (!withIsolate) return this.drop();
    this.#endedIsolate = true;
    this.isolate.dispose();
  }

  async #onFailedEntry(activity: Activity, error: unknown): Promise<void> {
    this.#isSpent = true;
    const limit = this.isolate.isOutOfMemory ? "memory" : limitOf(error);
    if (limit === "memory") this.runOutOfMemory();
    else if (limit === "time")
      activity.end({
        outcome: "limited",
        error:
          this.#timeLeftMs() > 0
            ? entryError(this.isolate.options.timeLimits.entryMs)
            : timeoutError(activity.kind, this.#deadline - activity.startedAt),
      });
    else if (!this.#isGone) {
      const isDrained = await this.#drain();
      activity.fail(parseUncaught(error));
      if (!isDrained) this.#stop(true);
    }
    if (limit !== undefined) this.#stop(true);
  }

  /**
   * An entry that throws returns no outbox, although the messages in it count. It may also leave microtasks and rejections in the
   * isolate, which the next entry would run and report: they must not become another context's.
   */
  async #drain(): Promise<boolean> {
    for (let drains = 0; drains < maxDrains; drains++) {
      try {
        await this.#call("collect", []);
        return true;
      } catch (error) {
        if (limitOf(error) !== undefined) break;
      }
    }
    return false;
  }

  #takeMessage(activity: Activity, kind: string, args: readonly unknown[]): void {
    if (kind === "uncaught") this.#isSpent = true;
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
}
