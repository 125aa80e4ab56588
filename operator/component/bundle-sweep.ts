import type { ComponentResource } from "../../crds/component.ts";
import type { BundleReference, StoredBundle } from "../stored-ports.ts";
import type { OperatorPorts } from "../ports.ts";

export interface SweepLimits {
  readonly intervalMs: number;
  /**
   * A bundle is deleted when nothing has referred to it for this time, and no build has renewed it. Longer than any build, call, test or
   * backup that uses a bundle to which nothing refers yet, or any more.
   */
  readonly graceMs: number;
}

export const defaultSweepLimits: SweepLimits = { intervalMs: 10 * 60_000, graceMs: 60 * 60_000 };

interface Components {
  values(): Iterable<ComponentResource>;
}

type Ports = Pick<OperatorPorts, "bundles" | "clock"> & { readonly owners: Pick<OperatorPorts["owners"], "ownerOf"> };

/**
 * Deletes bundles to which neither a deployment, a version nor a component refers, and corrects what owners are charged for. Drafts, calls
 * of components and running builds refer to a bundle without an entry: the grace period is for them.
 */
export function bundleSweeper(ports: Ports, components: Components, limits: SweepLimits = defaultSweepLimits) {
  /** Since when nothing has referred to a bundle, by hash. A new leader begins again. */
  let unreferenced = new Map<string, number>();
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = ports.clock.now();
    // Listed first: what is built after that is not among them.
    const stored = await ports.bundles.list();
    const references = [...(await ports.bundles.deployed()), ...(await builtComponents(components.values(), ports))];
    const owners = ownersByHash(references);
    const unused = stored.filter(({ hash }) => !owners.has(hash));
    unreferenced = new Map(unused.map(({ hash }) => [hash, unreferenced.get(hash) ?? now]));
    const expired = unused.filter(({ hash, storedAt }) => Math.max(storedAt, unreferenced.get(hash) ?? now) <= now - limits.graceMs);
    const deleted = new Set<StoredBundle>();
    for (const bundle of expired) {
      signal.throwIfAborted();
      if (await ports.bundles.delete(bundle)) deleted.add(bundle);
    }
    signal.throwIfAborted();
    const kept = stored.filter((bundle) => !deleted.has(bundle));
    await ports.bundles.deleteOtherParts(kept, now - limits.graceMs);
    signal.throwIfAborted();
    await ports.bundles.correctCharges(chargesOf(kept, owners));
    return limits.intervalMs;
  };
}

/** The owners who refer to each bundle. */
function ownersByHash(references: readonly BundleReference[]): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>();
  for (const { hash, owner } of references) {
    const known = owners.get(hash) ?? new Set();
    if (owner !== undefined) known.add(owner);
    owners.set(hash, known);
  }
  return owners;
}

async function builtComponents(components: Iterable<ComponentResource>, { owners }: Ports): Promise<readonly BundleReference[]> {
  const references: BundleReference[] = [];
  for (const { metadata, status } of components)
    if (status.build !== undefined) references.push({ hash: status.build.bundle, owner: await owners.ownerOf(metadata.namespace) });
  return references;
}

/** One owner is charged for a bundle: the owner whose build stored it, or if that owner no longer refers to it, another who does. */
function chargesOf(stored: readonly StoredBundle[], owners: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, number> {
  const charges = new Map<string, number>();
  for (const { hash, owner, bytes } of stored) {
    const referring = owners.get(hash) ?? new Set();
    const charged = owner !== undefined && referring.has(owner) ? owner : ([...referring][0] ?? owner);
    if (charged !== undefined) charges.set(charged, (charges.get(charged) ?? 0) + bytes);
  }
  return charges;
}
