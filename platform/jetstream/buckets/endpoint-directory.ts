import { z } from "zod";
import { LookupCache } from "../../../domain/lookup-cache.ts";
import type { Endpoint } from "../../../domain/source/deployment.ts";
import { buckets, defaultPool } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { Bucket } from "./bucket.ts";

const endpoint = z.object({
  source: z.string(),
  pool: z.string().default(defaultPool),
  owner: z.string().exactOptional(),
  customResponse: z.boolean(),
  active: z.boolean(),
  workflow: z
    .object({ hasHttpTrigger: z.boolean(), hasEmailTrigger: z.boolean().exactOptional(), resumeKey: z.string().min(1) })
    .exactOptional(),
});

export interface EndpointDirectory extends Stoppable {
  /** @throws Unavailable when it is not cached and cannot be read. */
  find(key: string): Promise<Endpoint | undefined>;
  /** The cached endpoint; null: it does not exist; undefined: it must be read. */
  peek(key: string): Endpoint | null | undefined;
}

const defaults = { maxEntries: 50_000, maxAbsent: 10_000 };
const keyPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Endpoints by the secret part of their address: read on first use, cached until their entry in the bucket changes. */
export async function openEndpointDirectory(
  connection: Connection,
  options: { readonly maxEntries?: number; readonly maxAbsent?: number } = {},
): Promise<EndpointDirectory> {
  const bucket = new Bucket<Endpoint>(connection, buckets.endpoints, (json) => endpoint.parse(json));
  const cache = new LookupCache<Endpoint>({
    ...defaults,
    ...options,
    lookup: (key) => bucket.get(key),
    follow: (onChange) => bucket.watchKeys({ initial: false, onKey: onChange }),
    onChange: "evict",
  });
  await cache.start();
  const peek = (key: string): Endpoint | null | undefined => (keyPattern.test(key) ? cache.peek(key) : null);
  return {
    peek,
    find: async (key) => (keyPattern.test(key) ? cache.get(key) : undefined),
    stop: () => cache.stop(),
  };
}
