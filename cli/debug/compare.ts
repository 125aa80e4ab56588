import type { Run, RunInputs, Thrown } from "../../client/generated/operations.ts";
import type { LocalOutcome } from "./local-run.ts";

/** One aspect of a run, as recorded and as it was here. */
export interface Compared {
  readonly aspect: string;
  readonly recorded: string;
  readonly local: string;
  readonly isEqual: boolean;
}

export interface Recorded {
  readonly run: Run;
  /** Its events that are still stored, by their index in the run. */
  readonly events: ReadonlyMap<number, unknown>;
}

/** A run records the first ten keys that it changes. */
const maxChanges = 10;
const maxShown = 200;

const shown = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text);
const compared = (aspect: string, recorded: string, local: string): Compared => ({
  aspect,
  recorded: shown(recorded),
  local: shown(local),
  isEqual: recorded === local,
});

/** What differs between a recorded run and the same run here. Times are no difference. */
export function compareRuns({ run, events }: Recorded, local: LocalOutcome, db: NonNullable<RunInputs["db"]>): readonly Compared[] {
  return [
    compared("status", run.status, local.error === null ? "succeeded" : "failed"),
    ...compareErrors(run.error, local.error),
    // Dedupe refuses some: the error of the run says so.
    ...compareEvents(
      run,
      events,
      local.emits.filter(({ verdict }) => verdict !== "refused"),
    ),
    compared("db", changesOf(run.db_changes ?? []), changesOf(localChanges(local.writes, db))),
    compared("result", canonical(run.result ?? null), canonical(local.result === null ? null : (JSON.parse(local.result) as unknown))),
  ];
}

function compareErrors(recorded: Thrown | null, local: Thrown | null): Compared[] {
  if (recorded === null && local === null) return [];
  const text = (error: Thrown | null): string => (error === null ? "none" : `${error.name}: ${error.message}`);
  return [compared("error", text(recorded), text(local)), compared("error at", placeOf(recorded), placeOf(local))];
}

/** File and line of the first frame. */
function placeOf(error: Thrown | null): string {
  const place = /\n\s*at (?:.*\()?(.+?):(\d+):\d+\)?/.exec(error?.stack ?? "");
  return place === null ? "unknown" : `${place[1]}:${place[2]}`;
}

function compareEvents(
  { event_ids: ids, duplicates = 0 }: Run,
  events: ReadonlyMap<number, unknown>,
  emits: LocalOutcome["emits"],
): Compared[] {
  const count = compared("events", `${ids.length + duplicates}`, `${emits.length}`);
  // Without the duplicates, which events are the same is not known.
  if (duplicates > 0) return [count];
  for (const [index, event] of [...events].toSorted(([a], [b]) => a - b)) {
    const emit = emits[index];
    if (emit === undefined) break;
    const payload = compared(`event ${index + 1}`, canonical(event), canonical(JSON.parse(emit.payload)));
    if (!payload.isEqual) return [count, payload];
  }
  return [count];
}

interface Change {
  readonly prop: string;
  readonly key: string;
  readonly change: string;
  readonly bytes?: number | undefined;
}

const changesOf = (changes: readonly Change[]): string =>
  changes.length === 0
    ? "unchanged"
    : changes.map(({ prop, key, change, bytes }) => `${prop}.${key} ${change}${bytes === undefined ? "" : ` (${bytes} bytes)`}`).join(", ");

/** The same as a commit records, see domain/invocation/db-change.ts. */
function localChanges(writes: LocalOutcome["writes"], db: NonNullable<RunInputs["db"]>): readonly Change[] {
  return writes
    .flatMap(({ prop, key, value }): Change[] => {
      const before = db[prop]?.[key];
      if (value === null) return before === undefined ? [] : [{ prop, key, change: "deleted" }];
      if (before !== undefined && JSON.stringify(before) === value) return [];
      return [{ prop, key, change: before === undefined ? "added" : "changed", bytes: Buffer.byteLength(value) }];
    })
    .slice(0, maxChanges);
}

/** JSON whose keys are sorted: Postgres and JavaScript may keep them in other orders. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
