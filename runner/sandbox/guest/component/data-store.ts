import { ruleError } from "../runtime/errors.ts";
import { openDatabase, type StoredKeys } from "./database.ts";

/** Options of `set`. */
export interface SetOptions {
  /** Seconds after which the key is gone. */
  readonly ttl?: unknown;
  /** The version that the entry must have; 0: the key must not exist. */
  readonly if_version?: unknown;
}

/** An entry with its version, for `if_version`. */
export interface StoredEntry {
  readonly value: unknown;
  readonly version: number;
  /** Null: never. */
  readonly expires_at: Date | null;
}

/** A `data_store` prop: asynchronous. Without a configured store it is private to the source, and stored like `$.service.db`. */
export interface DataStoreProp {
  get(key: unknown, fallback?: unknown): Promise<unknown>;
  /** The entry with its version; undefined if there is none. */
  entry(key: unknown): Promise<StoredEntry | undefined>;
  /** Returns the version of the entry; undefined for the source's own store. */
  set(key: unknown, value: unknown, options?: SetOptions): Promise<number | undefined>;
  has(key: unknown): Promise<boolean>;
  delete(key: unknown, options?: Pick<SetOptions, "if_version">): Promise<void>;
  /** Adds to a number, and returns the sum. A missing key counts as 0. */
  increment(key: unknown, by?: unknown, options?: Pick<SetOptions, "ttl">): Promise<number>;
  /** Sets several keys, one after the other. */
  update(entries: unknown): Promise<void>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[key: string, value: unknown][]>;
  size(): Promise<number>;
  [Symbol.asyncIterator](): AsyncIterator<[key: string, value: unknown]>;
}

export function dataStoreProp(prop: string, stored: StoredKeys): DataStoreProp {
  const database = openDatabase(prop, stored);
  const entries = (): [string, unknown][] => database.keys().map((key) => [key, database.get(key)]);
  const refuseOptions = (options: object | undefined): void => {
    if (options === undefined || !Object.values(options).some((value) => value !== undefined)) return;
    throw ruleError(
      "data_store_not_configured",
      `this.${prop} has no ttl and no if_version: it is the source's own db. Configure the prop with the id of a data store`,
    );
  };
  return {
    get: async (key, fallback) => database.get(key) ?? fallback,
    entry: async (key) => {
      const value = database.get(key);
      return value === undefined ? undefined : { value, version: 0, expires_at: null };
    },
    set: async (key, value, options) => {
      refuseOptions(options);
      database.set(key, value);
      return undefined;
    },
    has: async (key) => database.keys().includes(String(key)),
    delete: async (key, options) => {
      refuseOptions(options);
      database.set(key, undefined);
    },
    increment: async (key, by = 1, options) => {
      refuseOptions(options);
      const sum = sumOf(String(key), database.get(key), by);
      database.set(key, sum);
      return sum;
    },
    update: async (given) => {
      for (const [key, value] of pairsOf(given)) database.set(key, value);
    },
    clear: async () => {
      for (const key of database.keys()) database.set(key, undefined);
    },
    keys: async () => database.keys(),
    entries: async () => entries(),
    size: async () => database.keys().length,
    async *[Symbol.asyncIterator]() {
      yield* entries();
    },
  };
}

function sumOf(key: string, before: unknown, by: unknown): number {
  const sum = (typeof before === "number" ? before : before === undefined ? 0 : Number.NaN) + (typeof by === "number" ? by : Number.NaN);
  if (Number.isFinite(sum)) return sum;
  throw ruleError("data_store_not_number", `the key '${key}' cannot be incremented: its value, or what is added, is no number`);
}

/** Of an object, a map, or any iterable of pairs. */
export function pairsOf(given: unknown): [key: unknown, value: unknown][] {
  if (typeof given !== "object" || given === null) throw new TypeError("update takes an object, a Map, or a list of [key, value]");
  return Symbol.iterator in given ? [...(given as Iterable<[unknown, unknown]>)] : Object.entries(given);
}
