/** A changed key of `$.service.db`, for people. Of a long value there is only the beginning. */
export interface DbChange {
  readonly prop: string;
  readonly key: string;
  /** JSON text; null: there was no value. */
  readonly before: string | null;
  /** JSON text; null: the key was deleted. */
  readonly after: string | null;
}

type Db = Readonly<Record<string, Readonly<Record<string, string>>>>;
type DbWrites = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** They are part of each commit that changes the db, so they are few and short. */
const [maxChanges, maxKey, maxValue] = [10, 80, 100];

/**
 * What a run changed in the db: the first ten keys whose values differ.
 *
 * @param mask replaces secrets in a JSON text; is called only with texts of at most 1 KiB
 */
export function dbChangesOf(before: Db, writes: DbWrites, mask: (json: string) => string): readonly DbChange[] {
  const changes: DbChange[] = [];
  for (const [prop, keys] of Object.entries(writes))
    for (const [key, after] of Object.entries(keys)) {
      const old = before[prop]?.[key] ?? null;
      if (old === after) continue;
      if (changes.length === maxChanges) return changes;
      changes.push({ prop: prop.slice(0, maxKey), key: key.slice(0, maxKey), before: shown(old, mask), after: shown(after, mask) });
    }
  return changes;
}

/** A longer value is not shown at all: to mask a part of it, all of it would have to be read. */
const maxMasked = 1_024;

function shown(value: string | null, mask: (json: string) => string): string | null {
  if (value === null) return null;
  if (value.length > maxMasked) return `… (${value.length} characters of JSON)`;
  const masked = mask(value);
  return masked.length <= maxValue ? masked : `${masked.slice(0, maxValue)}…`;
}
