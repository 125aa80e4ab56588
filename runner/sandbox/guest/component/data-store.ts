import { openDatabase, type StoredKeys } from "./database.ts";

/** A `data_store` prop: asynchronous, private to the source, and stored like `$.service.db`. */
export interface DataStoreProp {
  get(key: unknown, fallback?: unknown): Promise<unknown>;
  set(key: unknown, value: unknown): Promise<void>;
  has(key: unknown): Promise<boolean>;
  delete(key: unknown): Promise<void>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[key: string, value: unknown][]>;
  size(): Promise<number>;
  [Symbol.asyncIterator](): AsyncIterator<[key: string, value: unknown]>;
}

export function dataStoreProp(prop: string, stored: StoredKeys): DataStoreProp {
  const database = openDatabase(prop, stored);
  const entries = (): [string, unknown][] => database.keys().map((key) => [key, database.get(key)]);
  return {
    get: async (key, fallback) => database.get(key) ?? fallback,
    set: async (key, value) => database.set(key, value),
    has: async (key) => database.keys().includes(String(key)),
    delete: async (key) => database.set(key, undefined),
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
