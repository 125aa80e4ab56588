import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Endpoint } from "../../../domain/source/deployment.ts";
import { buckets, defaultPool } from "../../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

const endpoint = z.object({
  source: z.string(),
  pool: z.string().default(defaultPool),
  owner: z.string().exactOptional(),
  customResponse: z.boolean(),
  active: z.boolean(),
});

export interface EndpointDirectory extends Stoppable {
  /** @throws Unavailable when it is not cached and cannot be read. */
  find(key: string): Promise<Endpoint | undefined>;
  /** What is known without waiting: `null` for an endpoint known not to exist, `undefined` when it must be read. */
  peek(key: string): Endpoint | null | undefined;
}

/** Anybody may ask for any key: what does not exist is remembered too, and only so much of it. */
const defaults = { maxEntries: 50_000, maxUnknown: 10_000 };
const keyPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Endpoints by the secret part of their address: read when first asked for, kept until the bucket says that they changed. */
export async function openEndpointDirectory(
  connection: Connection,
  options: { readonly maxEntries?: number; readonly maxUnknown?: number } = {},
): Promise<EndpointDirectory> {
  const bucket = new Bucket<Endpoint>(connection, buckets.endpoints, (json) => endpoint.parse(json));
  const known = new LRUCache<string, Endpoint>({ max: options.maxEntries ?? defaults.maxEntries });
  const unknown = new LRUCache<string, true>({ max: options.maxUnknown ?? defaults.maxUnknown });
  const reading = new Map<string, Promise<Endpoint | undefined>>();
  const forget = (key: string): void => {
    known.delete(key);
    unknown.delete(key);
    // A read under way may bring what was there before the change.
    reading.delete(key);
  };
  const load = (key: string): Promise<Endpoint | undefined> => {
    const loading = bucket
      .get(key)
      .then((found) => {
        if (reading.get(key) !== loading) return found;
        if (found === undefined) unknown.set(key, true);
        else known.set(key, found);
        return found;
      })
      .finally(() => {
        if (reading.get(key) === loading) reading.delete(key);
      });
    reading.set(key, loading);
    return loading;
  };
  const peek = (key: string): Endpoint | null | undefined =>
    known.get(key) ?? (unknown.has(key) || !keyPattern.test(key) ? null : undefined);
  const watch = await bucket.watchKeys({ initial: false, onKey: forget });
  return {
    peek,
    find: async (key) => {
      const held = peek(key);
      return held === undefined ? (reading.get(key) ?? load(key)) : (held ?? undefined);
    },
    stop: () => watch.stop(),
  };
}
