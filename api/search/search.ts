import { InvalidInput, Malformed, Unavailable } from "../../domain/errors.ts";
import { findIn, type Found } from "../../domain/search/found.ts";
import type { SearchCandidate, SearchPosition } from "../../domain/search/item.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { VisibleObjects } from "../traces/visible-objects.ts";
import type { SearchRecords } from "./ports.ts";
import { WindowReader } from "./windows.ts";

/** After either, a page ends, however much it has found. A window that has begun is read to its end. */
export const searchBounds = { ms: 200, rows: 50_000 } as const;
export type SearchBounds = Readonly<Record<keyof typeof searchBounds, number>>;

const maxEmitters = 1_000;
const maxOwners = 100;
/** Texts of candidates are in memory together. */
const maxCandidates = 100;

export interface FoundItem extends Found {
  readonly candidate: Omit<SearchCandidate, "head" | "body">;
  readonly emitterName: string;
}

export interface SearchPage {
  readonly items: readonly FoundItem[];
  /** Everything before it was searched; undefined: everything. */
  readonly position: SearchPosition | undefined;
  /** The following pages are read by owner: reading by source was slow. */
  readonly isByOwner: boolean;
}

export interface SearchRequest {
  readonly query: SearchQuery;
  readonly owners: readonly string[];
  readonly after: SearchPosition | undefined;
  /** As the page before it says. */
  readonly isByOwner: boolean;
  readonly limit: number;
}

interface SearchPorts {
  readonly records: SearchRecords;
  readonly objects: VisibleObjects;
  readonly namespaceOf: (owner: string) => Promise<string | undefined>;
}

/**
 * Reads the history from the newest to the oldest, window by window, until the page is full, a bound is reached, or
 * Postgres takes too long after the first window:
 *
 *     query ──▶ emitters ──▶ window ──▶ candidates ──▶ those that match, and that the caller may see ──▶ page
 *                              ▲───────────── next position, larger or smaller ──────────┘
 *
 * @throws Malformed for a source that is too vague, InvalidInput for a user of very many organizations, Unavailable when
 * Postgres takes too long for the first window
 */
export async function searchPage(request: SearchRequest, ports: SearchPorts, bounds: SearchBounds = searchBounds): Promise<SearchPage> {
  const { query, owners, limit } = request;
  checkOwners(owners);
  const emitters = await emittersOf(query, owners, ports);
  if (emitters?.length === 0) return { items: [], position: undefined, isByOwner: request.isByOwner };
  const reader = new WindowReader({ query, owners, emitters }, request.isByOwner, ports.records);
  const startedAt = performance.now();
  const items: FoundItem[] = [];
  let position = request.after;
  while (items.length < limit) {
    // Postgres does not compare excluded words: many candidates may have them.
    const wanted = query.excluded.length === 0 ? limit - items.length + 1 : maxCandidates;
    const window = await reader.read(position, Math.min(wanted, maxCandidates));
    if (window === undefined) {
      if (reader.rowsRead > 0) break;
      throw new Unavailable("Postgres takes too long to search: try again, or search a shorter time with after: and before:");
    }
    for (const candidate of window.candidates) {
      const item = await foundItem(candidate, query, ports.objects);
      if (item !== undefined) items.push(item);
      if (items.length === limit) return { items, position: candidate, isByOwner: reader.isByOwner };
    }
    position = window.end;
    const tookMs = performance.now() - startedAt - reader.uncountedMs;
    if (position === undefined || tookMs >= bounds.ms || reader.rowsRead >= bounds.rows) break;
  }
  return { items, position, isByOwner: reader.isByOwner };
}

/** @throws InvalidInput for too many */
export function checkOwners(owners: readonly string[]): void {
  if (owners.length <= maxOwners) return;
  throw new InvalidInput(`you belong to more than ${maxOwners - 1} organizations: search one of them with org_id`);
}

async function foundItem(candidate: SearchCandidate, query: SearchQuery, objects: VisibleObjects): Promise<FoundItem | undefined> {
  const found = findIn(candidate, query);
  const emitterName = found && (await objects.nameOf(candidate.emitter));
  return found === undefined || emitterName === undefined ? undefined : { ...found, candidate, emitterName };
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
