/**
 * A changed key of `$.service.db`, for people. It has no values: they may be credentials that a hook received from another system, which
 * no mask knows.
 */
export interface DbChange {
  readonly prop: string;
  /** Its beginning, if it is long. */
  readonly key: string;
  readonly change: DbChangeKind;
  /** Size of the new value's JSON; absent: it was deleted. */
  readonly bytes?: number;
}

export const dbChangeKinds = ["added", "changed", "deleted"] as const;
export type DbChangeKind = (typeof dbChangeKinds)[number];

type Db = Readonly<Record<string, Readonly<Record<string, string>>>>;
type DbWrites = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** They are part of each commit that changes the db, so they are few and short. */
const [maxChanges, maxName] = [10, 80];

/**
 * What a run changed in the db: the first ten keys whose values differ.
 *
 * @param mask replaces secrets in the name of a prop or key; is called only with texts of at most 1,024 characters
 */
export function dbChangesOf(before: Db, writes: DbWrites, mask: (text: string) => string): readonly DbChange[] {
  const changes: DbChange[] = [];
  for (const [prop, keys] of Object.entries(writes))
    for (const [key, after] of Object.entries(keys)) {
      const old = before[prop]?.[key] ?? null;
      if (old === after) continue;
      if (changes.length === maxChanges) return changes;
      changes.push({ prop: shown(prop, mask), key: shown(key, mask), ...changeOf(old, after) });
    }
  return changes;
}

function changeOf(before: string | null, after: string | null): Pick<DbChange, "change" | "bytes"> {
  if (after === null) return { change: "deleted" };
  return { change: before === null ? "added" : "changed", bytes: new TextEncoder().encode(after).length };
}

/** A longer name is not shown at all: to mask a part of it, all of it would have to be read. */
const maxMasked = 1_024;

function shown(name: string, mask: (text: string) => string): string {
  if (name.length > maxMasked) return `… (${name.length} characters)`;
  const masked = mask(name);
  // The cut may be within an emoji. Postgres refuses half of one in JSON.
  return (masked.length <= maxName ? masked : `${masked.slice(0, maxName)}…`).toWellFormed();
}
