import type { NewResource, ResourceStore } from "../../crds/resource-store.ts";
import { hasEnded, type Kind, type Resource } from "../../crds/resource.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { Informer } from "./informer.ts";
import { OwnWrites } from "./own-writes.ts";

/**
 * Reads single resources from the informers' caches and writes to the real store. It sees its own writes and deletions at once, and never
 * an older version. Writes of others become visible with the watch. After a Conflict it has read the resource live, so the next attempt
 * starts from the version that conflicted.
 *
 * Lists, watches and kinds without an informer use the real store.
 */
export class CachedStore implements ResourceStore {
  readonly #live: ResourceStore;
  readonly #kinds = new Map<string, OwnWrites<unknown, unknown>>();
  readonly #assertMayWrite: () => void;

  /** @param assertMayWrite throws when this process must not write, such as a former leader */
  constructor(live: ResourceStore, assertMayWrite: () => void = () => undefined) {
    this.#live = live;
    this.#assertMayWrite = assertMayWrite;
  }

  /** Reads the kind from this informer's cache. Call it before the informer starts. */
  cache<S, T>(informer: Informer<S, T>): void {
    const writes = new OwnWrites(informer);
    this.#kinds.set(informer.kind.kind, writes as unknown as OwnWrites<unknown, unknown>); // Only used with the same kind.
  }

  async get<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T>> {
    const found = await this.find(kind, namespace, name);
    if (found !== undefined) return found;
    throw new NotFound(`${kind.kind} '${name}' does not exist in namespace '${namespace}'`);
  }

  async find<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T> | undefined> {
    const writes = this.#writesOf(kind);
    return writes === undefined ? this.#live.find(kind, namespace, name) : writes.read(`${namespace}/${name}`);
  }

  async findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined> {
    const writes = this.#writesOf(kind);
    return writes === undefined ? this.#live.findById(kind, id) : writes.readById(id);
  }

  list: ResourceStore["list"] = (kind, options) => this.#live.list(kind, options);
  watch: ResourceStore["watch"] = (kind, version, signal) => this.#live.watch(kind, version, signal);

  async create<S, T>(kind: Kind<S, T>, resource: NewResource<S>): Promise<Resource<S, T>> {
    return this.#write(kind, { metadata: resource }, () => this.#live.create(kind, resource));
  }

  async update<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>> {
    return this.#write(kind, resource, () => this.#live.update(kind, resource));
  }

  async updateStatus<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>> {
    return this.#write(kind, resource, () => this.#live.updateStatus(kind, resource));
  }

  async delete<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<void> {
    this.#assertMayWrite();
    const writes = this.#writesOf(kind);
    let missing: NotFound | undefined;
    await this.#live.delete(kind, namespace, name).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      missing = error;
    });
    if (writes !== undefined) await this.#recordDeletion(kind, writes, namespace, name);
    if (missing !== undefined) throw missing;
  }

  #writesOf<S, T>(kind: Kind<S, T>): OwnWrites<S, T> | undefined {
    return this.#kinds.get(kind.kind) as OwnWrites<S, T> | undefined; // cache() stored it under this kind.
  }

  async #write<S, T>(kind: Kind<S, T>, target: Target, write: () => Promise<Resource<S, T>>): Promise<Resource<S, T>> {
    this.#assertMayWrite();
    const writes = this.#writesOf(kind);
    try {
      const written = await write();
      if (hasEnded(written)) writes?.recordEnd(written.metadata.uid);
      else writes?.recordWrite(written);
      return written;
    } catch (error) {
      if (writes !== undefined && (error instanceof Conflict || error instanceof NotFound)) await this.#readLive(kind, writes, target);
      throw error;
    }
  }

  /** If the read fails, the watch will deliver the change. */
  async #readLive<S, T>(kind: Kind<S, T>, writes: OwnWrites<S, T>, { metadata }: Target): Promise<void> {
    const { namespace, name, uid } = metadata;
    try {
      const live = await this.#live.find(kind, namespace, name);
      if (live !== undefined) writes.recordWrite(live);
      else if (uid !== undefined) writes.recordEnd(uid);
    } catch {
      // The caller throws the original error.
    }
  }

  /**
   * A deletion returns no version, and may delete another resource than the one cached under this name. So every resource of this name up
   * to a version read afterwards counts as deleted, except the one that exists now: finalizers may keep it.
   */
  async #recordDeletion<S, T>(kind: Kind<S, T>, writes: OwnWrites<S, T>, namespace: string, name: string): Promise<void> {
    const known = writes.read(`${namespace}/${name}`);
    try {
      const { resourceVersion } = await this.#live.list(kind, { namespace, limit: 1 });
      const live = await this.#live.find(kind, namespace, name);
      if (live === undefined) writes.recordDeletion(`${namespace}/${name}`, resourceVersion);
      else writes.recordWrite(live);
    } catch {
      if (known !== undefined) writes.recordEnd(known.metadata.uid);
    }
  }
}

interface Target {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid?: string };
}
