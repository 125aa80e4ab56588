import { LRUCache } from "lru-cache";
import type { Stacks } from "../../../runner/run/ports.ts";
import type { BlobStore } from "./object-store.ts";

const maxMappers = 50;

/**
 * Maps stacks through the source map that the builder stores beside each bundle.
 * @param createMapper parses a source map
 */
export function createSourceMapStacks(blobs: BlobStore, createMapper: (sourceMap: string) => { mapStack(stack: string): string }): Stacks {
  const mappers = new LRUCache<string, Promise<{ mapStack(stack: string): string }>>({ max: maxMappers });
  const load = async (bundle: string) => createMapper(new TextDecoder().decode(await blobs.get(`${bundle}.map`)));
  const mapperFor = (bundle: string): ReturnType<typeof load> => {
    const cached = mappers.get(bundle);
    if (cached !== undefined) return cached;
    const mapper = load(bundle);
    mappers.set(bundle, mapper);
    mapper.catch(() => mappers.delete(bundle));
    return mapper;
  };
  return {
    map: async (bundle, stack) => {
      try {
        return (await mapperFor(bundle)).mapStack(stack);
      } catch {
        return stack; // An unmapped stack, which points into the bundle, is better than none.
      }
    },
  };
}
