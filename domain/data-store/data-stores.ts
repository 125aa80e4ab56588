/**
 * Data stores: named sets of keys with JSON values, which belong to an owner. Props of sources and steps, and the API, use them. Times are
 * epoch milliseconds.
 */
export interface DataStores {
  /**
   * Performs an operation on a store of the owner. One with an id is performed once: a repetition returns the first result.
   *
   * @throws NotFound `data_store_not_found`: the owner has no such store; Conflict `data_store_changed`: the key has another version;
   * InvalidInput `data_store_not_number`; QuotaExceeded `data_store_full`; Unavailable
   */
  perform(request: StoreRequest): Promise<StoreResult>;
}

export interface StoreRequest {
  readonly owner: string;
  /** Id of the store, or its resource name. */
  readonly store: string;
  readonly operation: StoreOperation;
  /** The same for each repetition of the operation; absent: it may be performed again. */
  readonly operationId?: string;
}

export const dataStoreLimits = {
  /** Of one owner. */
  stores: 100,
  entries: 100_000,
  /** UTF-8, of all keys and values of one owner. */
  bytes: 256 * 2 ** 20,
  /** UTF-8, JSON of one value. */
  valueBytes: 2 ** 20,
  keyCharacters: 512,
  ttlSeconds: 366 * 86_400,
  /** Of one page of a list. */
  pageEntries: 1_000,
  pageBytes: 2 ** 20,
} as const;

/** How long the id of an operation is known, unless so many others have changed the store since. */
export const operationKeptMs = 7 * 86_400_000;
export const operationsKept = 100_000;

export const isStoreKey = (key: string): boolean =>
  key !== "" && key !== "." && key !== ".." && key.length <= dataStoreLimits.keyCharacters && !key.includes("\0") && key.isWellFormed();
export const storeKeyRule = `a key has 1 to ${dataStoreLimits.keyCharacters} characters, neither U+0000 nor half of a surrogate pair, and is not '.' or '..', which URLs leave out`;
export const storeValueRule = `a value has at most ${dataStoreLimits.valueBytes} bytes of JSON`;

/** Operations on a store. Values are JSON texts. */
export type StoreOperation =
  | { readonly kind: "get"; readonly key: string }
  | {
      readonly kind: "set";
      readonly key: string;
      readonly value: string;
      /** Absent: the entry does not expire. */
      readonly ttlSeconds?: number;
      /** The version that the entry must have. 0: the key must not exist. */
      readonly ifVersion?: number;
    }
  /** A key that does not exist counts as 0. `ttlSeconds` is for a new entry; the time of another one goes on. */
  | { readonly kind: "increment"; readonly key: string; readonly by: number; readonly ttlSeconds?: number }
  | { readonly kind: "delete"; readonly key: string; readonly ifVersion?: number }
  | { readonly kind: "clear" }
  | { readonly kind: "size" }
  | {
      readonly kind: "list";
      /** Entries behind this key; absent: from the first. */
      readonly after?: string;
      readonly limit?: number;
      readonly withValues: boolean;
    };
export type OperationOf<Kind extends StoreOperation["kind"]> = Extract<StoreOperation, { kind: Kind }>;

export interface StoreEntry {
  readonly key: string;
  /** Grows with each change of the store. */
  readonly version: number;
  /** Of key and value, UTF-8. */
  readonly bytes: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  /** JSON text; absent in lists without values. */
  readonly value?: string;
}

/** Results by operation. */
export type StoreResult =
  /** Null: there is no such key. */
  | { readonly kind: "get"; readonly entry: StoreEntry | null }
  | { readonly kind: "set"; readonly version: number }
  | { readonly kind: "increment"; readonly version: number; readonly value: number }
  | { readonly kind: "delete"; readonly existed: boolean }
  | { readonly kind: "clear"; readonly deleted: number }
  | { readonly kind: "size"; readonly entries: number; readonly bytes: number }
  | {
      readonly kind: "list";
      readonly entries: readonly StoreEntry[];
      /** The last key of the page, if others follow. */
      readonly next: string | null;
    };
export type ResultOf<Kind extends StoreResult["kind"]> = Extract<StoreResult, { kind: Kind }>;

/** Operations that change nothing: they need no id. */
export const isReading = ({ kind }: StoreOperation): boolean => kind === "get" || kind === "list" || kind === "size";

const encoder = new TextEncoder();
export const bytesOf = (text: string): number => encoder.encode(text).length;
