import { resourceWithId } from "../../crds/public-id.ts";
import { labels, type Resource } from "../../crds/resource.ts";
import { keyOf, type Informer } from "./informer.ts";
import { KeyIndex } from "./key-index.ts";
import { compareVersions } from "./versions.ts";

/** More deletions than a cache lags behind. Beyond it the oldest are forgotten. */
const maxTombstones = 50_000;

/**
 * Writes of this process that the cache has not received yet. A write counts until the informer reaches its version. A deletion has no
 * version, but a uid is never reused, so cached versions of it are void.
 */
export class OwnWrites<S, T> {
  readonly #informer: Informer<S, T>;
  /** In order of writing, which is roughly the order of versions. Reads check again, so the order only affects when entries are dropped. */
  readonly #written = new Map<string, Resource<S, T>>();
  readonly #ids = new KeyIndex();
  readonly #ended = new Set<string>();
  /** By key, the version up to which its resources are deleted. */
  readonly #deleted = new Map<string, string>();

  constructor(informer: Informer<S, T>) {
    this.#informer = informer;
    informer.onProgress(() => this.#dropCached());
    informer.onChange((resource, deleted) => {
      if (deleted) this.#ended.delete(resource.metadata.uid);
    });
    informer.onReset(() => {
      this.#written.clear();
      this.#ids.clear();
      this.#ended.clear();
      this.#deleted.clear();
    });
  }

  /** The newer of the cached and the written version. */
  read(key: string): Resource<S, T> | undefined {
    const cached = this.#informer.get(key);
    const written = this.#written.get(key);
    const newest = written !== undefined && isNewer(written, cached) && !this.#isCached(written) ? written : cached;
    return newest === undefined || this.#isDeleted(key, newest) ? undefined : newest;
  }

  readById(id: string): Resource<S, T> | undefined {
    const keys = new Set([...this.#ids.keys(id), ...this.#informer.keysOfId(id)]);
    const known = [...keys].map((key) => this.read(key)).filter((resource) => resource !== undefined);
    return resourceWithId(
      id,
      known.filter(({ metadata }) => metadata.labels[labels.id] === id),
    );
  }

  /** Records a resource returned by the store, unless a newer version is recorded. */
  recordWrite(resource: Resource<S, T>): void {
    const key = keyOf(resource);
    const before = this.#written.get(key);
    if (before !== undefined && !isNewer(resource, before)) return;
    this.#written.delete(key);
    this.#ids.set(key, undefined);
    if (this.#isCached(resource)) return;
    this.#written.set(key, resource);
    this.#ids.set(key, resource.metadata.labels[labels.id]);
  }

  /** Records that the resource with this uid is gone. */
  recordEnd(uid: string): void {
    this.#ended.add(uid);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= maxTombstones) return;
      this.#ended.delete(oldest);
    }
  }

  /** Records that resources with this key are gone up to `version`. */
  recordDeletion(key: string, version: string): void {
    const before = this.#deleted.get(key);
    if (before !== undefined && compareVersions(version, before) <= 0) return;
    this.#deleted.delete(key);
    if (!this.#reached(version)) this.#deleted.set(key, version);
  }

  #isDeleted(key: string, { metadata }: Resource<S, T>): boolean {
    const deletedAt = this.#deleted.get(key);
    if (deletedAt !== undefined && compareVersions(metadata.resourceVersion, deletedAt) <= 0) return true;
    return this.#ended.has(metadata.uid);
  }

  #isCached(resource: Resource<S, T>): boolean {
    return this.#reached(resource.metadata.resourceVersion);
  }

  /** Has the informer received everything up to this version? */
  #reached(version: string): boolean {
    const { version: reached } = this.#informer;
    return reached !== undefined && compareVersions(version, reached) <= 0;
  }

  /** Stops at the first entry that is not cached yet: later ones were written later. */
  #dropCached(): void {
    for (const [key, resource] of this.#written) {
      if (!this.#isCached(resource)) break;
      this.#written.delete(key);
      this.#ids.set(key, undefined);
    }
    for (const [key, version] of this.#deleted) {
      if (!this.#reached(version)) break;
      this.#deleted.delete(key);
    }
  }
}

function isNewer(resource: Resource, than: Resource | undefined): boolean {
  return than === undefined || compareVersions(resource.metadata.resourceVersion, than.metadata.resourceVersion) > 0;
}
