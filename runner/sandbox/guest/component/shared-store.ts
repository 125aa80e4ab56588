import { call } from "../runtime/bridge.ts";
import { ruleError } from "../runtime/errors.ts";
import { type DataStoreProp, pairsOf, type SetOptions, type StoredEntry } from "./data-store.ts";

/** What the host answers, by operation: a StoreResult of domain/data-store/data-stores.ts. */
interface Answers {
  readonly get: { readonly entry: Entry | null };
  readonly set: { readonly version: number };
  readonly increment: { readonly value: number };
  readonly delete: unknown;
  readonly clear: unknown;
  readonly size: { readonly entries: number };
  readonly list: { readonly entries: readonly Entry[]; readonly next: string | null };
}
interface Entry {
  readonly key: string;
  readonly value?: string;
  readonly version: number;
  readonly expiresAt: number | null;
}

const { parse, stringify } = JSON;

/** A `data_store` prop with a store of the owner: each call is a request to the host, and other runs see its effect at once. */
export function sharedStoreProp(prop: string): DataStoreProp {
  const ask = async <Kind extends keyof Answers>(operation: {
    readonly kind: Kind;
    readonly [field: string]: unknown;
  }): Promise<Answers[Kind]> => (await call("data_store", prop, operation as Parameters<typeof call>[1])) as Answers[Kind];
  const read = async (key: unknown): Promise<Entry | null> => (await ask({ kind: "get", key: String(key) })).entry;
  const remove = async (key: unknown, options?: Pick<SetOptions, "if_version">): Promise<void> => {
    await ask({ kind: "delete", key: String(key), ...given("ifVersion", options?.if_version) });
  };
  const set = async (key: unknown, value: unknown, options?: SetOptions): Promise<number | undefined> => {
    if (value === undefined) {
      await remove(key, options);
      return undefined;
    }
    const text = textOf(String(key), value);
    const choices = { ...given("ttlSeconds", options?.ttl), ...given("ifVersion", options?.if_version) };
    return (await ask({ kind: "set", key: String(key), value: text, ...choices })).version;
  };
  async function* pages(withValues: boolean): AsyncGenerator<readonly Entry[]> {
    let after: string | null | undefined;
    do {
      const { entries, next } = await ask({ kind: "list", withValues, ...given("after", after) });
      yield entries;
      after = next;
    } while (after !== null);
  }
  async function* each(): AsyncGenerator<[string, unknown]> {
    for await (const entries of pages(true)) for (const entry of entries) yield [entry.key, valueOf(entry)];
  }
  return {
    get: async (key, fallback) => {
      const found = await read(key);
      return found === null ? fallback : valueOf(found);
    },
    entry: async (key) => {
      const found = await read(key);
      return found === null ? undefined : withVersion(found);
    },
    set,
    has: async (key) => (await read(key)) !== null,
    delete: remove,
    increment: async (key, by = 1, options) =>
      (await ask({ kind: "increment", key: String(key), by, ...given("ttlSeconds", options?.ttl) })).value,
    update: async (entries) => {
      for (const [key, value] of pairsOf(entries)) await set(key, value);
    },
    clear: async () => void (await ask({ kind: "clear" })),
    keys: async () => {
      const found: string[] = [];
      for await (const entries of pages(false)) for (const { key } of entries) found.push(key);
      return found;
    },
    entries: async () => {
      const found: [string, unknown][] = [];
      for await (const entry of each()) found.push(entry);
      return found;
    },
    size: async () => (await ask({ kind: "size" })).entries,
    [Symbol.asyncIterator]: () => each(),
  };
}

const given = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined || value === null ? {} : { [name]: value };

const valueOf = ({ value }: Entry): unknown => (value === undefined ? undefined : (parse(value) as unknown));

const withVersion = (entry: Entry): StoredEntry => ({
  value: valueOf(entry),
  version: entry.version,
  expires_at: entry.expiresAt === null ? null : new Date(entry.expiresAt),
});

function textOf(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = stringify(value) as string | undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw ruleError("data_store_not_json", `the value of key '${key}' cannot be made JSON: ${why}`);
  }
  if (text !== undefined) return text;
  throw ruleError("data_store_not_json", `the value of key '${key}' is a ${typeof value}, which JSON cannot hold`);
}
