import { sql, type Kysely } from "kysely";
import type { WatchEvent } from "../../../crds/resource-store.ts";
import { Gone, InvalidInput, Unavailable } from "../../../domain/errors.ts";
import type { Signals, Subscription } from "../signals.ts";
import type { Tables } from "../tables.ts";
import { columns, resourceFrom, type ResourceRow } from "./row.ts";
import { resourceChannel } from "./writes.ts";

export interface WatchTiming {
  /** How often a watch looks without having been woken, while notifications arrive and while they do not. */
  readonly pollMs: number;
  readonly pollUnwokenMs: number;
  /** At most this often a watch says how far it has come though nothing changed. */
  readonly bookmarkMs: number;
}

export const defaultTiming: WatchTiming = { pollMs: 20_000, pollUnwokenMs: 1_000, bookmarkMs: 30_000 };

interface Change extends ResourceRow {
  readonly deleted: boolean;
}

/** Rows of one read; memory of a watch that falls behind is bounded by it. */
const batch = 100;

/**
 * Reads `resources` and the tombstones in order of version from where it stands: a resource that changed five times since is
 * told once, as it is now. It is `added` when it came to be after the last read.
 */
export async function* watchRows<S, T>(
  { db, signals }: { readonly db: Kysely<Tables>; readonly signals: Signals },
  from: { readonly kind: string; readonly version: string; readonly timing: WatchTiming },
  signal: AbortSignal,
): AsyncIterable<WatchEvent<S, T>> {
  let version = parseVersion(from.version);
  let told = version;
  let toldAt = performance.now();
  const changes = signals.subscribe(resourceChannel, from.kind);
  try {
    while (!signal.aborted) {
      const round = await readPatiently(() => readChanges(db, from.kind, version), changes, from.timing, signal);
      if (round === undefined) return;
      for (const change of round.changes) {
        if (signal.aborted) return;
        yield eventFrom<S, T>(change, version);
        told = change.resource_version;
        toldAt = performance.now();
      }
      version = round.reached;
      if (round.more) continue;
      if (version > told && performance.now() - toldAt >= from.timing.bookmarkMs) {
        yield { type: "bookmark", resourceVersion: String(version) };
        told = version;
        toldAt = performance.now();
      }
      await changes.wait(changes.live ? from.timing.pollMs : from.timing.pollUnwokenMs, signal);
    }
  } finally {
    changes.end();
  }
}

function eventFrom<S, T>(change: Change, after: number): WatchEvent<S, T> {
  // A tombstone keeps the resource as it was; its version is that of the deletion, so that a watch can continue behind it.
  const resource = resourceFrom<S, T>(change);
  if (change.deleted) return { type: "deleted", resource };
  return { type: change.created_version > after ? "added" : "modified", resource };
}

function parseVersion(text: string): number {
  const version = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(version))
    throw new InvalidInput(`resourceVersion '${text}' is invalid: must be one that this store gave out`);
  return version;
}

interface Round {
  readonly changes: readonly Change[];
  /** Everything up to this version is in `changes` or was told before. */
  readonly reached: number;
  readonly more: boolean;
}

async function readChanges(db: Kysely<Tables>, kind: string, after: number): Promise<Round> {
  // One statement, so one snapshot: what it does not see up to `head` does not exist.
  const { rows } = await sql<Change & { kind: string | null; head: number; pruned: number }>`
    with changes as (
      select * from (
        (select false as deleted, ${columns} from resources where kind = ${kind} and resource_version > ${after} order by resource_version limit ${batch})
        union all
        (select true, ${columns} from resource_tombstones where kind = ${kind} and resource_version > ${after} order by resource_version limit ${batch})
      ) both_tables order by resource_version limit ${batch}
    )
    select head.version as head, head.pruned_version as pruned, changes.*
    from resource_head head left join changes on true order by changes.resource_version`.execute(db);
  const { head = 0, pruned = 0 } = rows[0] ?? {};
  if (after < pruned || after > head) {
    throw new Gone(`resourceVersion ${after} is not known any more: known are ${pruned} to ${head}; list ${kind} again`);
  }
  const changes = rows.filter((row) => row.kind !== null);
  const more = changes.length === batch;
  return { changes, reached: more ? (changes.at(-1)?.resource_version ?? after) : head, more };
}

/** Postgres being away is nothing a watch ends for: it goes on where it was. Undefined when aborted meanwhile. */
async function readPatiently(
  read: () => Promise<Round>,
  changes: Subscription,
  timing: WatchTiming,
  signal: AbortSignal,
): Promise<Round | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await changes.wait(timing.pollUnwokenMs, signal);
    }
  }
  return undefined;
}
