import type { OwnerNamespaces } from "../../crds/owner-namespaces.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { QuotaExceeded } from "../../domain/errors.ts";
import { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { StoredUse } from "./ports.ts";

/** What a user may store in all kinds of resources, with the organizations that the user created. */
export interface StorageLimits {
  readonly resources: number;
  /** Bytes of specs. */
  readonly bytes: number;
}

/** What is stored, as it was read, and what was stored here since. */
interface Known {
  readonly readAt: number;
  readonly readMs: number;
  resources: number;
  bytes: number;
}

interface Added {
  readonly resources: number;
  readonly bytes: number;
}

/** Changes of small specs are not counted: their number is bounded. */
const smallBytes = 4_096;
/** By then, what other processes store and delete is read. */
const maxAgeMs = 10_000;
/** Before a refusal, deletions are read, for at most a twentieth of the time: Postgres reads all that the owner has. */
const pauseOfReads = 20;
const maxKnown = 10_000;

/**
 * A store that refuses to exceed the limits of an owner. Writes that count towards the same limits follow one another, so that they
 * cannot exceed them together; several API processes can by what each stores in ten seconds. @throws QuotaExceeded `storage_full`
 */
export function limitStorage(
  store: ResourceStore,
  use: StoredUse,
  owners: Pick<OwnerNamespaces, "ownerOf" | "find">,
  limits: StorageLimits,
): ResourceStore {
  const turns = new FairSemaphore({ permitsPerKey: 1 });
  const known = new Map<string, Known>();
  async function read(first: string, namespaces: () => Promise<readonly string[]>): Promise<Known> {
    const readAt = performance.now();
    const used = await use.read(await namespaces());
    const fresh = { ...used, readAt, readMs: performance.now() - readAt };
    known.delete(first);
    known.set(first, fresh);
    for (const oldest of known.keys()) {
      if (known.size <= maxKnown) break;
      known.delete(oldest);
    }
    return fresh;
  }
  /** Calls `write` when it is its turn; it checks what it adds. */
  async function inTurn<Written>(namespace: string, write: (check: (added: Added) => Promise<void>) => Promise<Written>): Promise<Written> {
    const owner = await owners.ownerOf(namespace);
    const sharers = owner === undefined ? [namespace] : await use.sharersOf(owner);
    const first = sharers[0] ?? namespace;
    const namespaces = async (): Promise<readonly string[]> => {
      const found = await Promise.all(owner === undefined ? [] : sharers.map((each) => owners.find(each)));
      return [...new Set([namespace, ...found.filter((each) => each !== undefined)])];
    };
    return turns.use(first, () =>
      write(async (added) => {
        const last = known.get(first);
        const age = performance.now() - (last?.readAt ?? 0);
        let used = last !== undefined && age < maxAgeMs ? last : await read(first, namespaces);
        if (used === last && problemOf(used, added, limits) !== undefined && age > used.readMs * pauseOfReads)
          used = await read(first, namespaces);
        const problem = problemOf(used, added, limits);
        if (problem !== undefined) throw full(problem, { resources: used.resources, bytes: used.bytes, limits });
        used.resources += added.resources;
        used.bytes += added.bytes;
      }),
    );
  }
  return {
    ...store,
    create: (kind, resource) =>
      inTurn(resource.namespace, async (check) => {
        await check({ resources: 1, bytes: bytesOf(resource.spec) });
        return store.create(kind, resource);
      }),
    async update(kind, resource) {
      const { namespace, name } = resource.metadata;
      const bytes = bytesOf(resource.spec);
      if (bytes <= smallBytes) return store.update(kind, resource);
      return inTurn(namespace, async (check) => {
        const added = bytes - bytesOf((await store.find(kind, namespace, name))?.spec ?? {});
        if (added > 0) await check({ resources: 0, bytes: added });
        return store.update(kind, resource);
      });
    },
  };
}

const sharersText = "this owner and the organizations with the same creator";

function problemOf(used: Known, added: Added, limits: StorageLimits): string | undefined {
  const [resources, bytes] = [used.resources + added.resources, used.bytes + added.bytes];
  if (resources > limits.resources) return `${used.resources} resources are stored for ${sharersText}, the limit is ${limits.resources}`;
  if (bytes > limits.bytes) return `${bytes} bytes would be stored for ${sharersText}, the limit is ${limits.bytes}`;
  return undefined;
}

const bytesOf = (spec: unknown): number => Buffer.byteLength(JSON.stringify(spec) ?? "");

function full(what: string, details: object): QuotaExceeded {
  return new QuotaExceeded(`${what}: delete components, sources or workflows that you do not need`, { code: "storage_full", details });
}
