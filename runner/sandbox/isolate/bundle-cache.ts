import { readFile } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import type { CachedData } from "./prelude.ts";
import type { Bundle } from "../port.ts";

/**
 * V8's code caches of bundles this child has run, by content hash. They stay in this process: V8 believes a cache without checks,
 * so one from elsewhere would have to be trusted like machine code.
 */
const caches = new LRUCache<string, { readonly data: CachedData; readonly bytes: number }>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ bytes }) => bytes,
});

export function findCodeCache(bundle: Bundle): CachedData | undefined {
  return caches.get(bundle.hash)?.data;
}

export function keepCodeCache(bundle: Bundle, data: CachedData | undefined): void {
  if (data !== undefined) caches.set(bundle.hash, { data, bytes: data.copy().byteLength || 1 });
}

export async function readBundle(bundle: Bundle): Promise<string> {
  return await readFile(bundle.path, "utf8");
}
