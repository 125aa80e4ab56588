import type { SearchWindow, WindowOutcome } from "../../domain/search/item.ts";

/** The history, as searches read it. */
export interface SearchRecords {
  /**
   * Ids of sources and workflows in these namespaces whose id, name or slug is one of these, or matches a glob with `*`; at most `limit`.
   */
  findEmitters(namespaces: readonly string[], patterns: readonly string[], limit: number): Promise<readonly string[]>;
  /** The source or workflow of these owners that has this run; several if a runner has forged its id. */
  emittersOfRun(run: string, owners: readonly string[]): Promise<readonly string[]>;
  /** Reads a window. Candidates may not match: what they contain is compared only roughly. */
  readWindow(window: SearchWindow): Promise<WindowOutcome>;
}
