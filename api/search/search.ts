import { InvalidInput, Malformed, Unavailable } from "../../domain/errors.ts";
import type { SearchCandidate, SearchPosition, SearchWindow } from "../../domain/search/item.ts";
import { matchTexts } from "../../domain/search/match.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import { isOfLevels, itemOf, type SearchedItem } from "../../domain/search/texts.ts";
import type { VisibleObjects } from "../traces/visible-objects.ts";
import type { SearchRecords } from "./ports.ts";

/** After either, a page ends, however much it has found. A window that has begun is read to its end. */
export const searchBounds = { ms: 200, rows: 50_000 } as const;
export type SearchBounds = Readonly<Record<keyof typeof searchBounds, number>>;

/** Rows of a window: few statements, which Postgres plans once each. */
const windowRows = [16, 64, 256, 1_024, 4_096] as const;
const [fastMs, slowMs] = [30, 100];
/** Rows of other owners and tables are read, and left out again. */
const ownersOfLargeWindow = 4;
/** Of so many, all rows are read; of more, those of their owners. */
const maxReadEmitters = 100;
const maxEmitters = 1_000;
const maxOwners = 100;
/** Texts of candidates are in memory together. */
const maxCandidates = 100;

export interface FoundItem extends SearchedItem {
  readonly candidate: SearchCandidate;
  readonly emitterName: string;
  readonly excerpt: string;
}

export interface SearchPage {
  readonly items: readonly FoundItem[];
  /** Everything before it was searched; undefined: everything. */
  readonly position: SearchPosition | undefined;
}

export interface SearchRequest {
  readonly query: SearchQuery;
  readonly owners: readonly string[];
  readonly after: SearchPosition | undefined;
  readonly limit: number;
}

interface SearchPorts {
  readonly records: SearchRecords;
  readonly objects: VisibleObjects;
  readonly namespaceOf: (owner: string) => Promise<string | undefined>;
}

/**
 * Reads the history from the newest to the oldest, window by window, until the page is full or a bound is reached:
 *
 *     query ──▶ emitters ──▶ window ──▶ candidates ──▶ those that match, and that the caller may see ──▶ page
 *                              ▲───────────── next position, larger or smaller ──────────┘
 *
 * @throws Malformed for a source that is too vague, InvalidInput for a user of very many organizations, Unavailable
 */
export async function searchPage(request: SearchRequest, ports: SearchPorts, bounds: SearchBounds = searchBounds): Promise<SearchPage> {
  const { query, owners, limit } = request;
  if (owners.length > maxOwners)
    throw new InvalidInput(`you belong to more than ${maxOwners - 1} organizations: search one of them with org_id`);
  const emitters = await emittersOf(query, owners, ports);
  if (emitters?.length === 0) return { items: [], position: undefined };
  const reader = new WindowReader({ query, owners, emitters }, ports.records);
  const until = performance.now() + bounds.ms;
  const items: FoundItem[] = [];
  let position = request.after;
  while (items.length < limit) {
    // Postgres does not compare excluded words: many candidates may have them.
    const wanted = query.excluded.length === 0 ? limit - items.length + 1 : maxCandidates;
    const { candidates, end } = await reader.read(position, Math.min(wanted, maxCandidates));
    for (const candidate of candidates) {
      const item = await foundItem(candidate, query, ports.objects);
      if (item !== undefined) items.push(item);
      if (items.length === limit) return { items, position: candidate };
    }
    position = end;
    if (position === undefined || performance.now() >= until || reader.rowsRead >= bounds.rows) break;
  }
  return { items, position };
}

async function foundItem(candidate: SearchCandidate, query: SearchQuery, objects: VisibleObjects): Promise<FoundItem | undefined> {
  const item = itemOf(candidate);
  const excerpt = isOfLevels(item, query) ? matchTexts(item.texts, query) : undefined;
  const emitterName = excerpt === undefined ? undefined : await objects.nameOf(candidate.emitter);
  return excerpt === undefined || emitterName === undefined ? undefined : { ...item, candidate, emitterName, excerpt };
}

/** Sources and workflows of the query. Undefined: any. */
async function emittersOf(
  { sources, run }: SearchQuery,
  owners: readonly string[],
  { records, namespaceOf }: SearchPorts,
): Promise<readonly string[] | undefined> {
  const ofRun = run === undefined ? undefined : await records.emittersOfRun(run, owners);
  if (sources === undefined) return ofRun;
  const namespaces = (await Promise.all(owners.map(namespaceOf))).filter((namespace) => namespace !== undefined);
  const named = await records.findEmitters(namespaces, sources, maxEmitters + 1);
  if (named.length > maxEmitters)
    throw new Malformed(`source:${sources.join(",").slice(0, 80)} names more than ${maxEmitters} sources and workflows: be more precise`, {
      code: "invalid_query",
    });
  return ofRun === undefined ? named : named.filter((id) => ofRun.includes(id));
}

/** Reads windows that are as large as Postgres reads them quickly. */
class WindowReader {
  readonly #window: Pick<SearchWindow, "query" | "owners" | "emitters">;
  readonly #records: SearchRecords;
  #size: number;
  #isByOwner: boolean;
  #rowsRead = 0;

  constructor(window: Pick<SearchWindow, "query" | "owners" | "emitters">, records: SearchRecords) {
    this.#window = window;
    this.#records = records;
    this.#size = window.owners.length > ownersOfLargeWindow ? 1 : 2;
    this.#isByOwner = (window.emitters?.length ?? 0) > maxReadEmitters;
  }

  get rowsRead(): number {
    return this.#rowsRead;
  }

  /** @throws Unavailable when even the smallest window takes too long */
  async read(after: SearchPosition | undefined, limit: number) {
    for (;;) {
      const rows = windowRows[this.#size] ?? windowRows[0];
      const startedAt = performance.now();
      const read = await this.#records.readWindow({ ...this.#window, isByOwner: this.#isByOwner, after, rows, limit });
      if (read.outcome === "read") {
        this.#rowsRead += rows;
        this.#adapt(performance.now() - startedAt);
        return read;
      }
      if (this.#size > 0) this.#size--;
      else if (this.#window.emitters !== undefined && !this.#isByOwner) this.#isByOwner = true;
      else throw new Unavailable("Postgres takes too long to search: try again, or search a shorter time with after: and before:");
    }
  }

  #adapt(tookMs: number): void {
    const isLarge = this.#size >= windowRows.length - (this.#window.owners.length > ownersOfLargeWindow ? 2 : 1);
    if (tookMs < fastMs && !isLarge) this.#size++;
    if (tookMs > slowMs && this.#size > 0) this.#size--;
  }
}
