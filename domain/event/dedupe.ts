import type { DedupeStrategy } from "../component/definition.ts";
import type { RunError } from "../run-products.ts";
import { assertNever } from "../errors.ts";
import { fingerprint } from "../component/fingerprint.ts";

/** What a source remembers of earlier emits, by the strategy of its component. */
export type DedupeState =
  | { readonly strategy: "unique"; readonly ids: readonly string[] }
  | {
      readonly strategy: "greatest";
      /** A decimal string beyond 2^53, where numbers are not exact. */ readonly id: number | string | null;
    }
  | { readonly strategy: "last"; readonly id: string | null }
  | { readonly strategy: "none" };

/** The arguments of `$emit` that order and dedupe read. */
export interface Emit {
  readonly id?: string | number | null | undefined;
  readonly summary?: string | null | undefined;
  /** Epoch ms given to `$emit`. */
  readonly ts?: number | null | undefined;
  /** Epoch ms of the call, which orders emits without `ts`. */
  readonly at: number;
}

export interface Accepted<E extends Emit> {
  /** In the order in which they are to be emitted. */
  readonly accepted: readonly E[];
  readonly state: DedupeState;
  /** One for each emit that the strategy cannot compare; these are not emitted. */
  readonly errors: readonly RunError[];
}

interface Step<E extends Emit> {
  readonly accepted: readonly E[];
  readonly state: DedupeState;
}

/** Size of the cache of `unique` (specification, "Limits"). */
const uniqueCacheSize = 100;
/** Longer ids are stored as fingerprints, because each commit of the source contains them. */
const maxStoredIdLength = 1024;
/** Bound on log lines about such emits. */
const maxErrors = 100;

/**
 * Orders the emits of one run oldest to newest and drops those that the component's dedupe strategy has seen (specification,
 * "Dedupe strategies"). State of another strategy counts as empty. Ids are compared as strings of any length, for
 * `greatest` as numbers.
 */
export function acceptEmits<E extends Emit>(strategy: DedupeState["strategy"], state: DedupeState, emits: readonly E[]): Accepted<E> {
  const { usable, errors } = strategy === "none" ? { usable: emits, errors: [] } : splitUsable(strategy, emits);
  return { ...apply(strategy, state, orderByTime(usable)), errors };
}

/** An emit without `ts` has the time of its call; emits of the same time keep the order of their calls. */
export function orderByTime<E extends Emit>(emits: readonly E[]): readonly E[] {
  return emits.toSorted((a, b) => (a.ts ?? a.at) - (b.ts ?? b.at));
}

/** The stored and compared form of an id; null if there is none. */
export function dedupeIdOf(emit: Emit): string | null {
  const { id } = emit;
  if (id === undefined || id === null || id === "") return null;
  return typeof id === "number" && !Number.isFinite(id) ? null : String(id);
}

function apply<E extends Emit>(strategy: DedupeState["strategy"], state: DedupeState, emits: readonly E[]): Step<E> {
  switch (strategy) {
    case "none":
      return { accepted: emits, state: { strategy: "none" } };
    case "unique":
      return acceptUnique(state.strategy === "unique" ? state.ids : [], emits);
    case "greatest":
      return acceptGreatest(state.strategy === "greatest" ? state.id : null, emits);
    case "last":
      return acceptLast(state.strategy === "last" ? state.id : null, emits);
    default:
      return assertNever(strategy);
  }
}

function rememberedId({ id }: Emit): string {
  const text = String(id);
  return text.length <= maxStoredIdLength ? text : fingerprint(text);
}

function acceptUnique<E extends Emit>(ids: readonly string[], emits: readonly E[]): Step<E> {
  // A set keeps the order of insertion: its first element is the oldest.
  const cache = new Set(ids);
  const accepted = emits.filter((emit) => {
    const id = rememberedId(emit);
    if (cache.has(id)) return false;
    cache.add(id);
    if (cache.size > uniqueCacheSize)
      for (const oldest of cache) {
        cache.delete(oldest);
        break;
      }
    return true;
  });
  return { accepted, state: { strategy: "unique", ids: [...cache] } };
}

function acceptGreatest<E extends Emit>(greatest: number | string | null, emits: readonly E[]): Step<E> {
  let largest = greatest === null ? null : parseNumber(greatest);
  const accepted = emits.filter((emit) => {
    const id = parseNumber(emit.id ?? "");
    if (id === null || (largest !== null && id <= largest)) return false;
    largest = id;
    return true;
  });
  return { accepted, state: { strategy: "greatest", id: typeof largest === "bigint" ? String(largest) : largest } };
}

function acceptLast<E extends Emit>(last: string | null, emits: readonly E[]): Step<E> {
  // With the same id twice in one run, all up to its last occurrence is known.
  const known = last === null ? -1 : emits.findLastIndex((emit) => rememberedId(emit) === last);
  const newest = emits.at(-1);
  return {
    accepted: emits.slice(known + 1),
    state: { strategy: "last", id: newest === undefined ? last : rememberedId(newest) },
  };
}

function splitUsable<E extends Emit>(strategy: DedupeStrategy, emits: readonly E[]): { usable: readonly E[]; errors: readonly RunError[] } {
  const errors: RunError[] = [];
  const usable = emits.filter((emit, index) => {
    const error = emitError(strategy, emit, index);
    if (error !== undefined) errors.push(error);
    return error === undefined;
  });
  const [last] = errors.splice(maxErrors);
  if (last === undefined) return { usable, errors };
  const message = `${emits.length - usable.length - maxErrors} more emits of this run were not emitted, the first of them for this: ${last.message}`;
  return { usable, errors: [...errors, { ...last, message }] };
}

function emitError(strategy: DedupeStrategy, emit: Emit, index: number): RunError | undefined {
  const which = `emit ${index + 1} of this run${emit.summary ? ` ("${emit.summary.slice(0, 100)}")` : ""}`;
  if (dedupeIdOf(emit) === null) {
    return {
      name: "EmitError",
      code: "emit_without_id",
      message: `${which} was not emitted: it has no id, and dedupe "${strategy}" needs one as $emit(event, { id })`,
    };
  }
  if (strategy === "greatest" && parseNumber(emit.id ?? "") === null) {
    const id = String(emit.id).slice(0, 100);
    return {
      name: "EmitError",
      code: "emit_id_not_numeric",
      message: `${which} was not emitted: its id "${id}" is no number, and dedupe "greatest" compares numbers`,
    };
  }
  return undefined;
}

/** Integers beyond 2^53 stay exact: ids of 18 digits are common, and two of them must not look equal. */
function parseNumber(id: string | number): number | bigint | null {
  const text = String(id).trim();
  const value = text === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) return null;
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}
