import ivm from "isolated-vm";
import type { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import type { Bundle } from "../port.ts";
import { type DebugChannel, DebugSession } from "./debug-session.ts";
import { findCodeCache, keepCodeCache, readBundle } from "./bundle-cache.ts";
import type { TimeLimits } from "../limits.ts";
import { Mutex } from "./mutex.ts";
import { OpenEntries } from "./open-entries.ts";
import type { SharedNetwork } from "../operations/index.ts";
import { compilePrelude, type Prelude, produceCache, runPrelude } from "./prelude.ts";

export interface IsolateOptions {
  readonly prelude: Prelude;
  readonly needsNode: boolean;
  readonly memoryMb: number;
  readonly network: SharedNetwork;
  readonly slots: FairSemaphore;
  readonly timeLimits: TimeLimits;
  /** The process must be replaced: V8 ran out of memory for good, or something in it cannot be interrupted. */
  readonly onPoisoned: (reason: string) => void;
  /** A debugger, for which its bundle waits. Absent: there is none. */
  readonly debugger?: DebugChannel | undefined;
}

/** What an isolate asks of a context in it. */
export interface IsolateContext {
  /** It used CPU time, ms. */
  charge(cpuMs: number): void;
  /** The isolate was disposed. */
  interrupt(): void;
  /** Its entry filled the heap. */
  runOutOfMemory(): void;
  /** Called inside an entry. */
  collectGarbage(): Promise<void>;
}

/** As stacks name the bundle. */
const bundleName = "component.js";
/** Compiling less than this is quicker than making a code cache of it; characters. */
const minCachedCharacters = 8 * 1024;
/** CPU time that an isolate may use between two looks while nothing runs in it, ms: collecting garbage, releasing contexts. */
const maxUnaskedCpuMs = 100;
/** An isolate that uses more in so many looks, one after the other, computes without end. */
const maxUnaskedLooks = 8;

/**
 * One V8 isolate with a context for each of its sources, which all have one owner and one bundle (decision 0015).
 *
 * All work in the isolate goes through `enter`, one entry at a time. So V8's state that contexts share (microtasks, unhandled
 * rejections, CPU time) always belongs to a single context. An entry that was terminated leaves such state behind: the isolate is
 * disposed, and runs in its other contexts end as `interrupted`, to be repeated elsewhere.
 *
 * Life: any number of contexts, see `GuestContext.create` → `dispose`.
 */
export class GuestIsolate {
  readonly options: IsolateOptions;
  /** Whose code it runs: entries take the owner's slots. Undefined while it is kept ready for any owner. */
  owner: string | undefined;
  readonly #contexts = new Set<IsolateContext>();
  readonly #isolate: ivm.Isolate;
  readonly #turns = new Mutex();
  readonly #open: OpenEntries;
  #entry: { readonly context: IsolateContext | undefined; readonly cpuMsBefore: number } | undefined;
  #prelude: readonly ivm.Script[] | undefined;
  #bundle: { readonly script: ivm.Script; readonly characters: number } | undefined;
  /** CPU time as last read, and as read at the end of the last entry or at the last look since. */
  #cpuMs = 0;
  #cpuMsAtRest = 0;
  #unaskedLooks = 0;
  #isDisposed = false;
  /** Of a debugged isolate, which runs one bundle in one context: the context, and the debugger's session. */
  #debugged: ivm.Context | undefined;
  #session: DebugSession | undefined;
  #comesToRest: Promise<boolean> | undefined;
  #catastrophe: string | undefined;

  constructor(options: IsolateOptions) {
    this.options = options;
    this.#open = new OpenEntries(options.slots);
    this.#isolate = new ivm.Isolate({
      memoryLimit: options.memoryMb,
      inspector: options.debugger !== undefined,
      onCatastrophicError: (message) => this.#onCatastrophe(message),
    });
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Whether other contexts share its heap. */
  get isShared(): boolean {
    return this.#contexts.size > 1;
  }

  get isOutOfMemory(): boolean {
    return this.#catastrophe !== undefined;
  }

  /** Entries that wait for their turn. */
  get queued(): number {
    return this.#turns.waiting;
  }

  /**
   * Whether it computes although no entry is open. To be asked regularly. isolated-vm counts until it has released the isolate, also while
   * the thread waits for a core, so that a single look proves nothing on a busy machine.
   */
  computesUnasked(): boolean {
    if (this.#entry !== undefined) return false;
    const before = this.#cpuMsAtRest;
    this.#cpuMsAtRest = this.cpuMs();
    this.#unaskedLooks = this.#cpuMsAtRest > before + maxUnaskedCpuMs ? this.#unaskedLooks + 1 : 0;
    return this.#unaskedLooks >= maxUnaskedLooks;
  }

  /** CPU time in ms since creation; of a disposed isolate, as last read. */
  cpuMs(): number {
    if (!this.#isDisposed && !this.#isolate.isDisposed) this.#cpuMs = Number(this.#isolate.cpuTime) / 1e6;
    return this.#cpuMs;
  }

  /** CPU time of the entry that is open now, ms; 0 if it is another context's. */
  openCpuMs(context: IsolateContext): number {
    return this.#entry?.context === context ? this.cpuMs() - this.#entry.cpuMsBefore : 0;
  }

  /**
   * Performs one entry once all earlier ones have ended; none if the isolate is disposed.
   *
   * @param context is charged for it; undefined: no context is
   */
  async enter(context: IsolateContext | undefined, act: () => Promise<void>): Promise<void> {
    await this.#turns.take();
    const owner = context === undefined ? undefined : this.owner;
    if (owner !== undefined) await this.options.slots.acquire(owner);
    this.#open.begin();
    const cpuMsBefore = this.cpuMs();
    this.#entry = { context, cpuMsBefore };
    try {
      if (!this.#isDisposed) await act();
    } finally {
      this.#cpuMsAtRest = this.cpuMs();
      this.#unaskedLooks = 0;
      context?.charge(this.#cpuMsAtRest - cpuMsBefore);
      this.#entry = undefined;
      this.#open.end();
      if (owner !== undefined) this.options.slots.release(owner);
      this.#turns.release();
    }
  }

  /** A context with the prelude in it. Call it inside an entry. */
  async createContext(): Promise<ivm.Context> {
    const isDebugged = this.options.debugger !== undefined;
    const context = await this.#isolate.createContext({ inspector: isDebugged });
    if (isDebugged) this.#debugged = context;
    this.#prelude ??= await compilePrelude(this.#isolate, this.options.prelude, this.options.needsNode);
    await runPrelude(this.#prelude, context);
    return context;
  }

  /** The bundle's script, compiled once for all contexts. Call it inside an entry, after `readBundle`. */
  async compileBundle(bundle: Bundle, code: string | undefined): Promise<ivm.Script> {
    if (this.#bundle !== undefined) return this.#bundle.script;
    if (code === undefined) throw new Error("the bundle has not been read");
    const { debugger: channel } = this.options;
    // Before compiling: the debugger learns of the script by its session.
    if (channel !== undefined && this.#debugged !== undefined) this.#session = new DebugSession(this.#isolate, this.#debugged, channel);
    const cachedData = findCodeCache(bundle);
    const script = await this.#isolate.compileScript(code, { filename: bundleName, ...(cachedData && { cachedData }) });
    this.#bundle = { script, characters: code.length };
    await this.#session?.untilAttached(bundleName);
    return script;
  }

  /** The bundle's text; undefined if it is compiled already. */
  async readBundle(bundle: Bundle): Promise<string | undefined> {
    return this.#bundle === undefined ? await readBundle(bundle) : undefined;
  }

  /** Makes a code cache of a bundle that has run, with the functions that V8 compiled lazily, unless there is one. Never rejects. */
  async cacheBundle(bundle: Bundle): Promise<void> {
    if ((this.#bundle?.characters ?? 0) <= minCachedCharacters || findCodeCache(bundle) !== undefined) return;
    await this.enter(undefined, async () => {
      keepCodeCache(bundle, await produceCache(this.#isolate, await readBundle(bundle), bundleName));
    }).catch(() => undefined);
  }

  /** Bytes that it holds now. @throws if it is disposed in the meantime */
  async heapBytes(): Promise<number> {
    let bytes = 0;
    await this.enter(undefined, async () => {
      const heap = await this.#isolate.getHeapStatistics();
      bytes = heap.total_physical_size + heap.externally_allocated_size + heap.malloced_memory;
    });
    return bytes;
  }

  /** Has V8 collect everything that is unused and return the memory. Takes some 10 ms of a core. */
  async collectGarbage(): Promise<void> {
    const [context] = this.#contexts;
    await this.enter(undefined, async () => await context?.collectGarbage());
  }

  add(context: IsolateContext): void {
    this.#contexts.add(context);
  }

  /** A context has ended. */
  remove(context: IsolateContext): void {
    this.#contexts.delete(context);
  }

  /** Terminates what computes in it, and interrupts what its contexts do. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.cpuMs();
    this.#isDisposed = true;
    // isolated-vm ends the process if an isolate with a session is disposed.
    this.#session?.end();
    this.#comesToRest = this.#watchDeath();
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
    this.#interruptAll();
  }

  /** Whether disposing it ended all that computed in it: otherwise only the end of the process will. */
  async cameToRest(): Promise<boolean> {
    return this.#catastrophe === undefined && (await this.#comesToRest) !== false;
  }

  #interruptAll(): void {
    const contexts = [...this.#contexts];
    this.#contexts.clear();
    for (const context of contexts) context.interrupt();
  }

  #onCatastrophe(message: string): void {
    this.#catastrophe = message;
    this.#open.lose();
    this.#isDisposed = true;
    this.#entry?.context?.runOutOfMemory();
    this.#interruptAll();
    this.options.onPoisoned(`V8 ran out of memory: ${message}`);
  }

  async #watchDeath(): Promise<boolean> {
    if (await this.#open.restWithin(this.options.timeLimits.disposeMs)) return true;
    setImmediate(() => this.options.onPoisoned("an entry goes on after its isolate was disposed of")); // After the run's outcome.
    return false;
  }
}
