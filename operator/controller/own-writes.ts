import { labels, type Resource } from "../../crds/resource.ts";
import { keyOf, type Informer } from "./informer.ts";
import { KeyIndex } from "./key-index.ts";
import { compareVersions } from "./versions.ts";

/** More deletions than any cache lags behind; of more, the oldest are forgotten. */
const mostTombstones = 50_000;

/**
 * What this process wrote of one kind and the cache has not been told of yet. A write counts until the informer has come to its
 * version. A deletion has no version of its own, but a uid never comes back: whatever the cache still says of it is past.
 */
export class OwnWrites<S, T> {
  readonly #informer: Informer<S, T>;
  /** In order of writing, which is about the order of versions; reads ask again, so it only matters for when we forget. */
  readonly #written = new Map<string, Resource<S, T>>();
  readonly #ids = new KeyIndex();
  readonly #ended = new Set<string>();
  /** By key, the version up to which everything of it is past. */
  readonly #deleted = new Map<string, string>();

  constructor(informer: Informer<S, T>) {
    this.#informer = informer;
    informer.onProgress(() => this.#forgetKnown());
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

  /** As far as we know, from the cache or from ourselves, whichever is newer. */
  read(key: string): Resource<S, T> | undefined {
    const cached = this.#informer.get(key);
    const written = this.#written.get(key);
    const newest = written !== undefined && isNewer(written, cached) && !this.#isKnown(written) ? written : cached;
    return newest === undefined || this.#isPast(key, newest) ? undefined : newest;
  }

  /** Of several that carry the label, the one that was given the id: anybody can copy a label, and nobody a status. */
  readById(id: string): Resource<S, T> | undefined {
    let labelled: Resource<S, T> | undefined;
    for (const keys of [this.#ids.keys(id), this.#informer.keysOfId(id)]) {
      for (const key of keys) {
        const resource = this.read(key);
        if (resource?.metadata.labels[labels.id] !== id) continue;
        if (givenId(resource) === id) return resource;
        labelled ??= resource;
      }
    }
    return labelled;
  }

  /** The store answered with this; it may have answered with something newer before. */
  wrote(resource: Resource<S, T>): void {
    const key = keyOf(resource);
    const before = this.#written.get(key);
    if (before !== undefined && !isNewer(resource, before)) return;
    this.#written.delete(key);
    this.#ids.set(key, undefined);
    if (this.#isKnown(resource)) return;
    this.#written.set(key, this.#informer.project(resource));
    this.#ids.set(key, resource.metadata.labels[labels.id]);
  }

  /** The resource with this uid is gone for good. */
  ended(uid: string): void {
    this.#ended.add(uid);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= mostTombstones) return;
      this.#ended.delete(oldest);
    }
  }

  /** Whatever had this key up to `version` is gone. */
  deleted(key: string, version: string): void {
    const before = this.#deleted.get(key);
    if (before !== undefined && compareVersions(version, before) <= 0) return;
    this.#deleted.delete(key);
    if (!this.#reached(version)) this.#deleted.set(key, version);
  }

  /** Does the cache lack something of each resource? */
  get projects(): boolean {
    return this.#informer.projects;
  }

  /** Does the spec lack what the informer's projection drops? */
  isProjected(resource: Resource<S, T>): boolean {
    return this.#informer.isProjected(resource);
  }

  #isPast(key: string, { metadata }: Resource<S, T>): boolean {
    const deletedAt = this.#deleted.get(key);
    if (deletedAt !== undefined && compareVersions(metadata.resourceVersion, deletedAt) <= 0) return true;
    return this.#ended.has(metadata.uid);
  }

  #isKnown(resource: Resource<S, T>): boolean {
    return this.#reached(resource.metadata.resourceVersion);
  }

  /** Has the informer told of everything up to this version? */
  #reached(version: string): boolean {
    const { version: reached } = this.#informer;
    return reached !== undefined && compareVersions(version, reached) <= 0;
  }

  /** Stops at the first that is not known yet: those after it were written later. */
  #forgetKnown(): void {
    for (const [key, resource] of this.#written) {
      if (!this.#isKnown(resource)) break;
      this.#written.delete(key);
      this.#ids.set(key, undefined);
    }
    for (const [key, version] of this.#deleted) {
      if (!this.#reached(version)) break;
      this.#deleted.delete(key);
    }
  }
}

function givenId({ status }: Resource): unknown {
  return typeof status === "object" && status !== null && "id" in status ? status.id : undefined;
}

function isNewer(resource: Resource, than: Resource | undefined): boolean {
  return than === undefined || compareVersions(resource.metadata.resourceVersion, than.metadata.resourceVersion) > 0;
}
