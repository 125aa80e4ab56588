import type { AsidePart, AsideStore, LaidAside, Log } from "./ports.ts";

/** An invocation that is to lie aside. */
export interface ToLay {
  readonly seq: number;
  readonly index: number;
  readonly source: string;
  readonly bytes: number;
  /** Told once, with its part; undefined: it stays where it is. */
  readonly laid: (part: LaidAside | undefined) => void;
}

/** Parts of one request. */
const mostParts = 256;
const retryMs = 1_000;
/** What waits to be laid aside is held in memory. */
const mostWaiting = 4_096;
const mostBytes = 32 * 2 ** 20;

/**
 * What is to be laid aside of one partition, in the order in which it came, one request at a time: it would overtake otherwise. While
 * that cannot be done it waits, and is told to the server as being worked on.
 */
export class LayQueue {
  readonly #store: Pick<AsideStore, "lay">;
  readonly #log: Log;
  readonly #waiting: ToLay[] = [];
  #bytes = 0;
  #isBusy = false;
  #isClosed = false;

  constructor(store: Pick<AsideStore, "lay">, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  get hasRoom(): boolean {
    return this.#waiting.length < mostWaiting && this.#bytes < mostBytes;
  }

  /** Whether an invocation of that message is on its way. */
  isLaying(seq: number, index: number): boolean {
    return this.#waiting.some((each) => each.seq === seq && each.index === index);
  }

  add(entry: ToLay): void {
    if (this.#isClosed) return entry.laid(undefined);
    this.#waiting.push(entry);
    this.#bytes += entry.bytes;
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => void this.#layAll()); // Never rejects.
  }

  /** Somebody else has the partition by now: what was not asked for stays where it is. */
  close(): void {
    this.#isClosed = true;
    if (!this.#isBusy) this.#end();
  }

  async #layAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const { parts, entries } = partsOf(this.#waiting);
      try {
        const laid = await this.#store.lay(parts.map(({ part }) => part));
        this.#waiting.splice(0, entries);
        for (const [at, { of }] of parts.entries()) this.#tell(of, laid[at]);
      } catch (error) {
        this.#log.warn({ op: "source.aside", err: error }, "nothing can be laid aside now: it is tried again");
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
    this.#isBusy = false;
    if (this.#isClosed) this.#end();
  }

  #tell(of: readonly ToLay[], laid: LaidAside | undefined): void {
    for (const entry of of) {
      this.#bytes -= entry.bytes;
      entry.laid(laid?.indexes.includes(entry.index) === true ? laid : undefined);
    }
  }

  #end(): void {
    this.#tell(this.#waiting.splice(0), undefined);
  }
}

/** The first of them by message and source, as many as go into one request. */
function partsOf(waiting: readonly ToLay[]): {
  readonly parts: readonly { readonly part: AsidePart; readonly of: readonly ToLay[] }[];
  readonly entries: number;
} {
  const parts = new Map<string, { readonly part: AsidePart & { readonly indexes: number[] }; readonly of: ToLay[] }>();
  let entries = 0;
  for (const entry of waiting) {
    const { seq, source, index } = entry;
    const key = `${seq} ${source}`;
    const known = parts.get(key);
    if (known === undefined && parts.size === mostParts) break;
    if (known === undefined) parts.set(key, { part: { seq, source, indexes: [index] }, of: [entry] });
    else {
      known.part.indexes.push(index);
      known.of.push(entry);
    }
    entries++;
  }
  return { parts: [...parts.values()], entries };
}
