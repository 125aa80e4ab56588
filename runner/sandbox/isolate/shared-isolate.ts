import type { LogRecord } from "../../../domain/run-products.ts";
import { GuestContext } from "./context.ts";
import type { GuestIsolate } from "./isolate.ts";
import { limits } from "../limits.ts";

/** A source with its bundle loaded in a context of its own. */
export interface WarmSource {
  readonly source: string;
  readonly revision: string;
  readonly place: SharedIsolate;
  readonly context: GuestContext;
  /** What the module's top level logged, for the log of the first run. */
  loadLogs: readonly LogRecord[];
  runs: number;
  isBusy: boolean;
  /** Epoch ms. */
  lastUsedAt: number;
}

/** Of an isolate's memory limit, what its sources may hold at rest before it takes no more of them. */
const sharedHeapShare = 0.25;

/** By that factor a heap has grown since garbage was last collected, before it is collected again. */
const minGrowth = 1.25;

/** An isolate, and the warm sources in it. Everything that they must have in common is in its key. */
export class SharedIsolate {
  readonly key: string;
  readonly sources = new Set<WarmSource>();
  /** As last measured. */
  bytes = 0;
  /** Runs that have ended since then. */
  unmeasuredRuns = 0;
  /** What was left after garbage was last collected; 0: never. */
  #collectedBytes = 0;
  /** Epoch ms. */
  lastUsedAt = Date.now();
  readonly #maxSharedBytes: number;
  /** Of a new isolate. */
  readonly #first: Promise<GuestContext>;
  #isFirstTaken = false;
  #isolate: GuestIsolate | undefined;
  /** Contexts that are being created or load their bundle. */
  #opening = 0;
  /** A context kept ready for the next source; undefined if it could not be created. */
  #spare: Promise<GuestContext | undefined> | undefined;
  /** Epoch ms. */
  #lastOpenedAt = Date.now();

  /** @param first the first context of a new isolate */
  constructor(key: string, memoryMb: number, first: Promise<GuestContext>) {
    this.key = key;
    this.#maxSharedBytes = memoryMb * 2 ** 20 * sharedHeapShare;
    this.#first = first;
  }

  /** Undefined until its first context is ready. */
  get isolate(): GuestIsolate | undefined {
    return this.#isolate;
  }

  get hasRoom(): boolean {
    const contexts = this.sources.size + this.#opening;
    return contexts < limits.contextsPerIsolate && this.bytes < this.#maxSharedBytes && this.#isolate?.isDisposed !== true;
  }

  /** Sources that start, and entries that wait for their turn. */
  get queued(): number {
    return this.#opening + (this.#isolate?.queued ?? 0);
  }

  get isEmpty(): boolean {
    return this.sources.size === 0 && this.#opening === 0;
  }

  /** Collecting takes 1 to 2 ms of a core for each context, so it must be worth that. */
  get isWorthCollecting(): boolean {
    return this.bytes > this.#collectedBytes * minGrowth && this.bytes <= limits.collectedBytes;
  }

  get isIdle(): boolean {
    return this.#opening === 0 && this.sources.values().every(({ isBusy }) => !isBusy);
  }

  /** A context for one more source. `endOpening` must follow if it resolves. @throws if the context cannot be created */
  async open(): Promise<GuestContext> {
    const isFirst = !this.#isFirstTaken;
    this.#isFirstTaken = true;
    this.#opening += 1;
    try {
      const first = await this.#first;
      this.#isolate = first.isolate;
      return isFirst ? first : await this.#further(first.isolate);
    } catch (error) {
      this.#opening -= 1;
      throw error;
    }
  }

  /** The bundle is loaded in an opened context, or will not be. */
  endOpening(): void {
    this.#opening -= 1;
  }

  noteCollected(): void {
    this.#collectedBytes = this.bytes;
  }

  /** A source is gone. V8 frees its memory when it collects. */
  noteDropped(): void {
    this.#collectedBytes *= this.sources.size / (this.sources.size + 1);
  }

  /** Most of the cost of a further context is paid before it is needed, if sources come one after the other. */
  async #further(isolate: GuestIsolate): Promise<GuestContext> {
    const spare = this.#spare;
    this.#spare = undefined;
    this.#lastOpenedAt = Date.now();
    setTimeout(() => {
      if (this.#spare === undefined && this.hasRoom) this.#spare = GuestContext.create(isolate).catch(() => undefined);
    }, limits.refillAfterMs);
    return (await spare) ?? (await GuestContext.create(isolate));
  }

  /** Drops the spare context if no source was added lately. */
  dropUnusedSpare(): void {
    if (this.#lastOpenedAt >= Date.now() - limits.spareMs) return;
    void this.#spare?.then((context) => context?.drop());
    this.#spare = undefined;
  }
}
