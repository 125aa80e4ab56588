import type { SearchPosition, SearchWindow, WindowOutcome } from "../../domain/search/item.ts";
import type { SearchRecords } from "./ports.ts";

/** Rows of a window: few statements, which Postgres plans once each. */
const windowRows = [16, 64, 256, 1_024, 4_096] as const;
/** Of a window that a search begins with. */
const startRows = 256;
const [fastMs, slowMs] = [30, 100];
/** Rows of other owners and tables are read, and left out again. */
const ownersOfLargeWindow = 4;
/** Of so many, the rows are read source by source; of more, those of their owners. */
const maxReadEmitters = 10;

/**
 * Reads windows that are as large as Postgres reads them quickly.
 *
 * | read | a window takes longer than `slowMs`, or too long |
 * |---|---|
 * | by source, more than `startRows` rows | the next one is smaller |
 * | by source, at most so many | from then on by owner, from the size of the start |
 * | by owner | the next one is smaller, down to the smallest |
 */
export class WindowReader {
  readonly #window: Pick<SearchWindow, "query" | "owners" | "emitters">;
  readonly #records: SearchRecords;
  readonly #largest: number;
  readonly #start: number;
  #size: number;
  #isByOwner: boolean;
  #rowsRead = 0;
  #uncountedMs = 0;

  constructor(window: Pick<SearchWindow, "query" | "owners" | "emitters">, isByOwner: boolean, records: SearchRecords) {
    this.#window = window;
    this.#records = records;
    const hasManyOwners = window.owners.length > ownersOfLargeWindow;
    this.#largest = windowRows.length - (hasManyOwners ? 2 : 1);
    this.#start = windowRows.indexOf(startRows) - (hasManyOwners ? 1 : 0);
    this.#size = this.#start;
    this.#isByOwner = isByOwner || (window.emitters?.length ?? 0) > maxReadEmitters;
  }

  get isByOwner(): boolean {
    return this.#isByOwner;
  }

  get rowsRead(): number {
    return this.#rowsRead;
  }

  /** Of windows that could not be read by source: a page would end before it has read any by owner. */
  get uncountedMs(): number {
    return this.#uncountedMs;
  }

  /** @returns undefined when even the smallest window takes too long */
  async read(after: SearchPosition | undefined, limit: number): Promise<Extract<WindowOutcome, { outcome: "read" }> | undefined> {
    for (;;) {
      const isByOwner = this.#isByOwner;
      const rows = windowRows[this.#size] ?? windowRows[0];
      const startedAt = performance.now();
      const read = await this.#records.readWindow({ ...this.#window, isByOwner, after, rows, limit });
      const tookMs = performance.now() - startedAt;
      if (read.outcome === "read") {
        this.#rowsRead += rows;
        if (tookMs < fastMs && this.#size < this.#largest) this.#size++;
        if (tookMs > slowMs) this.#readLess(rows);
        return read;
      }
      if (this.#readsSources) this.#uncountedMs += tookMs;
      if (!this.#readLess(rows)) return undefined;
    }
  }

  get #readsSources(): boolean {
    return this.#window.emitters !== undefined && !this.#isByOwner;
  }

  /** @returns false if there is nothing less to read */
  #readLess(rows: number): boolean {
    if (this.#readsSources && rows <= startRows) {
      this.#isByOwner = true;
      this.#size = this.#start;
      return true;
    }
    if (this.#size === 0) return false;
    this.#size--;
    return true;
  }
}
