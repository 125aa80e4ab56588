import { sql, type Kysely } from "kysely";
import type { WatchEvent } from "../../../crds/resource-store.ts";
import { Gone, InvalidInput, Unavailable } from "../../../domain/errors.ts";
import type { Signals, Subscription } from "../signals.ts";
import type { Tables } from "../tables.ts";
import { columns, resourceFrom, type ResourceRow } from "./row.ts";
import { resourceChannel } from "./writes.ts";

export interface WatchTiming {
  /** Polling interval without a notification, while notifications can and cannot arrive. */
  readonly pollMs: number;
  readonly pollDisconnectedMs: number;
  /** Minimum interval of bookmarks without changes. */
  readonly bookmarkMs: number;
}

export const defaultTiming: WatchTiming = { pollMs: 20_000, pollDisconnectedMs: 1_000, bookmarkMs: 30_000 };

interface Change extends ResourceRow {
  readonly deleted: boolean;
}

/** Rows per read; bounds the memory of a watch that has fallen behind. */
const batchSize = 100;

/**
 * Reads `resources` and tombstones in order of version: a resource that changed five times since is reported once, in its current state. It
 * is `added` if it was created after the last read.
 */
export async function* watchRows<S, T>(
  { db, signals }: { readonly db: Kysely<Tables>; readonly signals: Signals },
  from: { readonly kind: string; readonly version: string; readonly timing: WatchTiming },
  signal: AbortSignal,
): AsyncIterable<WatchEvent<S, T>> {
  let version = parseVersion(from.version);
  let reported = version;
  let reportedAt = performance.now();
  const changes = signals.subscribe(resourceChannel, from.kind);
  try {
    while (!signal.aborted) {
      const round = await readWithRetries(() => readChanges(db, from.kind, version), changes, from.timing, signal);
      if (round === undefined) return;
      for (const change of round.changes) {
        if (signal.aborted) return;
        yield eventFrom<S, T>(change, version);
        reported = change.resource_version;
        reportedAt = performance.now();
      }
      version = round.reached;
      if (round.more) continue;
      if (version > reported && performance.now() - reportedAt >= from.timing.bookmarkMs) {
        yield { type: "bookmark", resourceVersion: String(version) };
        reported = version;
        reportedAt = performance.now();
      }
      await changes.wait(changes.live ? from.timing.pollMs : from.timing.pollDisconnectedMs, signal);
    }
  } finally {
    changes.end();
  }
}

function eventFrom<S, T>(change: Change, after: number): WatchEvent<S, T> {
  // A tombstone has the resource's last state and the version of the deletion, from which a watch can continue.
  const resource = resourceFrom<S, T>(change);
  if (change.deleted) return { type: "deleted", resource };
  return { type: change.created_version > after ? "added" : "modified", resource };
}

function parseVersion(text: string): number {
  const version = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(version))
    throw new InvalidInput(`resourceVersion '${text}' is invalid: must be a version returned by this store`);
  return version;
}

interface Round {
  readonly changes: readonly Change[];
  /** Everything up to this version is in `changes` or was reported before. */
  readonly reached: number;
  readonly more: boolean;
}

async function readChanges(db: Kysely<Tables>, kind: string, after: number): Promise<Round> {
  // One statement, so one snapshot: it sees everything up to `head`.
  const { rows } = await sql<Change & { kind: string | null; head: number; pruned: number }>`
    with changes as (
      select * from (
        (select false as deleted, ${columns} from resources where kind = ${kind} and resource_version > ${after} order by resource_version limit ${batchSize})
        union all
        (select true, ${columns} from resource_tombstones where kind = ${kind} and resource_version > ${after} order by resource_version limit ${batchSize})
      ) both_tables order by resource_version limit ${batchSize}
    )
    select head.version as head, head.pruned_version as pruned, changes.*
    from resource_head head left join changes on true order by changes.resource_version`.execute(db);
  const { head = 0, pruned = 0 } = rows[0] ?? {};
  if (after < pruned || after > head) {
    throw new Gone(`resourceVersion ${after} has expired: available are ${pruned} to ${head}; list ${kind} again`);
  }
  const changes = rows.filter((row) => row.kind !== null);
  const more = changes.length === batchSize;
  return { changes, reached: more ? (changes.at(-1)?.resource_version ?? after) : head, more };
}

/** A watch survives outages of Postgres and continues where it was. Undefined when aborted. */
async function readWithRetries(
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
      await changes.wait(timing.pollDisconnectedMs, signal);
    }
  }
  return undefined;
}
