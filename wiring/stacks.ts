import { LRUCache } from "lru-cache";
import { createStackMapper, type StackMapper } from "../builder/bundle/source-map.ts";
import type { BlobStore } from "../platform/jetstream/bundles/object-store.ts";
import type { Stacks } from "../runner/run/ports.ts";

/** Reads stacks through the source map that the builder left beside the bundle. */
export function stacksOf(blobs: BlobStore): Stacks {
  const mappers = new LRUCache<string, Promise<StackMapper>>({ max: 50 });
  const mapperOf = (bundle: string): Promise<StackMapper> => {
    const known = mappers.get(bundle);
    if (known !== undefined) return known;
    const mapper = blobs.get(`${bundle}.map`).then((map) => createStackMapper(new TextDecoder().decode(map)));
    mappers.set(bundle, mapper);
    mapper.catch(() => mappers.delete(bundle));
    return mapper;
  };
  return {
    map: async (bundle, stack) => {
      try {
        return (await mapperOf(bundle)).mapStack(stack);
      } catch {
        return stack; // A stack that points into the bundle is better than none.
      }
    },
  };
}
