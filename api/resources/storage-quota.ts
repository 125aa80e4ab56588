import type { ResourceStore } from "../../crds/resource-store.ts";
import { QuotaExceeded } from "../../domain/errors.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { StoredUse } from "./ports.ts";

/** What one owner may store in all kinds of resources. */
export interface StorageLimits {
  readonly resources: number;
  /** Bytes of specs. */
  readonly bytes: number;
}

interface Added {
  readonly namespace: string;
  readonly resources: number;
  readonly bytes: number;
}

/** Changes of small specs are not counted: their number is bounded. */
const smallBytes = 4_096;

/**
 * A store that refuses to exceed the limits of an owner. Writes of an owner that count follow one another, so that they cannot exceed the
 * limits together; several API processes can by one resource each. @throws QuotaExceeded `storage_full`
 */
export function limitStorage(store: ResourceStore, use: StoredUse, limits: StorageLimits): ResourceStore {
  const turns = new FairSemaphore({ permitsPerKey: 1 });
  const check = async ({ namespace, resources, bytes }: Added): Promise<void> => {
    const used = await use.read(namespace);
    if (used.resources + resources > limits.resources)
      throw full(`${used.resources} resources are stored for this owner, the limit is ${limits.resources}`, { ...used, limits });
    if (used.bytes + bytes > limits.bytes)
      throw full(`${used.bytes + bytes} bytes would be stored for this owner, the limit is ${limits.bytes}`, { ...used, limits });
  };
  return {
    ...store,
    create: (kind, resource) =>
      turns.use(resource.namespace, async () => {
        await check({ namespace: resource.namespace, resources: 1, bytes: bytesOf(resource.spec) });
        return store.create(kind, resource);
      }),
    async update(kind, resource) {
      const { namespace, name } = resource.metadata;
      const bytes = bytesOf(resource.spec);
      if (bytes <= smallBytes) return store.update(kind, resource);
      return turns.use(namespace, async () => {
        const added = bytes - bytesOf((await store.find(kind, namespace, name))?.spec ?? {});
        if (added > 0) await check({ namespace, resources: 0, bytes: added });
        return store.update(kind, resource);
      });
    },
  };
}

const bytesOf = (spec: unknown): number => Buffer.byteLength(JSON.stringify(spec) ?? "");

function full(what: string, details: object): QuotaExceeded {
  return new QuotaExceeded(`${what}: delete components, sources or workflows that you do not need`, { code: "storage_full", details });
}
