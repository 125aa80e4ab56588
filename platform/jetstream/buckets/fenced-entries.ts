import { Unavailable } from "../../../domain/errors.ts";
import { Bucket, type PutOptions } from "./bucket.ts";
import type { Connection } from "../connection/connection.ts";

export interface FencedEntries<T> {
  get(key: string): Promise<T | undefined>;
  /** @throws Unavailable when this process no longer leads; Conflict when another process has written in the meantime */
  put(key: string, entry: T, options?: Pick<PutOptions, "ttlSeconds">): Promise<void>;
  /** A missing entry is not an error. @throws as `put` */
  delete(key: string): Promise<void>;
  /** As `Bucket.readAll`. */
  list(filter: string): Promise<ReadonlyMap<string, T>>;
}

export interface Fence {
  /** Does this process lead? It must become false by the clock, even in a process that stood still. */
  readonly leads: () => boolean;
  /** Resolves once the readers have seen this revision. */
  readonly seen?: (revision: number) => Promise<void>;
}

/**
 * Entries of a bucket that only the leader writes. A leader that stalls and resumes after another has taken over must not overwrite its
 * successor's entries: each write reads the entry's revision, then checks that this process still leads, then writes on condition that the
 * revision is unchanged. If the process stalls between these steps, NATS or the check refuses the write.
 */
export function fencedEntries<T>(
  connection: Connection,
  bucket: string,
  { leads, seen = () => Promise.resolve() }: Fence,
): FencedEntries<T> {
  const entries = new Bucket<T>(connection, bucket, (json) => json as T); // Only the operator writes it, from typed values.
  const checkLeads = (): void => {
    if (!leads()) throw new Unavailable("this operator no longer leads: the leading one will write");
  };
  return {
    get: (key) => entries.get(key),
    list: (filter) => entries.readAll(filter),
    put: async (key, entry, options = {}) => {
      const { revision } = await entries.read(key);
      checkLeads();
      await seen(await entries.put(key, entry, { ...options, expectedRevision: revision }));
    },
    delete: async (key) => {
      const { value, revision } = await entries.read(key);
      if (value === undefined) return;
      checkLeads();
      await seen(await entries.delete(key, { expectedRevision: revision }));
    },
  };
}
