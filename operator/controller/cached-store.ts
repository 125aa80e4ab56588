import type { NewResource, ResourceStore } from "../../crds/resource-store.ts";
import { hasEnded, type Kind, type Resource } from "../../crds/resource.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { Informer } from "./informer.ts";
import { OwnWrites } from "./own-writes.ts";

/**
 * A store whose single reads come from the informers' caches, and whose writes go to the real one. What it wrote itself it reads
 * back at once, deletions too, and never anything older; what others wrote it reads when the watch has told of it. After a
 * Conflict the resource was read live, so the next try starts from what made it fail.
 *
 * Kinds without an informer, lists and watches are the real store's. A kind whose informer projects is read without what the
 * projection drops by `find` and `findById`; `get` then asks the store itself.
 */
export class CachedStore implements ResourceStore {
  readonly #live: ResourceStore;
  readonly #kinds = new Map<string, OwnWrites<unknown, unknown>>();
  readonly #mayWrite: () => void;

  /** @param mayWrite throws when this process must not write any more, such as a leader that is none now. */
  constructor(live: ResourceStore, mayWrite: () => void = () => undefined) {
    this.#live = live;
    this.#mayWrite = mayWrite;
  }

  /** Has the kind read from this informer's cache. To be called before the informer starts. */
  cache<S, T>(informer: Informer<S, T>): void {
    const writes = new OwnWrites(informer);
    this.#kinds.set(informer.kind.kind, writes as unknown as OwnWrites<unknown, unknown>); // Read only by the same kind.
  }

  async get<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T>> {
    const writes = this.#writesOf(kind);
    if (writes?.projects === true) {
      const live = await this.#live.get(kind, namespace, name);
      writes.wrote(live);
      return live;
    }
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
    const whole = await this.#whole(kind, resource);
    return this.#write(kind, resource, () => this.#live.update(kind, whole));
  }

  async updateStatus<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>> {
    return this.#write(kind, resource, () => this.#live.updateStatus(kind, resource));
  }

  async delete<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<void> {
    this.#mayWrite();
    const writes = this.#writesOf(kind);
    let missing: NotFound | undefined;
    await this.#live.delete(kind, namespace, name).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      missing = error;
    });
    if (writes !== undefined) await this.#rememberDeletion(kind, writes, namespace, name);
    if (missing !== undefined) throw missing;
  }

  #writesOf<S, T>(kind: Kind<S, T>): OwnWrites<S, T> | undefined {
    return this.#kinds.get(kind.kind) as OwnWrites<S, T> | undefined; // Put there by cache() for this very kind.
  }

  async #write<S, T>(kind: Kind<S, T>, target: Target, write: () => Promise<Resource<S, T>>): Promise<Resource<S, T>> {
    this.#mayWrite();
    const writes = this.#writesOf(kind);
    try {
      const written = await write();
      if (hasEnded(written)) writes?.ended(written.metadata.uid);
      else writes?.wrote(written);
      return written;
    } catch (error) {
      if (writes !== undefined && (error instanceof Conflict || error instanceof NotFound)) await this.#readLive(kind, writes, target);
      throw error;
    }
  }

  /** A resource as it was read here, with what the projection of its kind dropped. */
  async #whole<S, T>(kind: Kind<S, T>, resource: Resource<S, T>): Promise<Resource<S, T>> {
    const writes = this.#writesOf(kind);
    if (writes?.isProjected(resource) !== true) return resource;
    const { namespace, name, resourceVersion } = resource.metadata;
    const live = await this.#live.get(kind, namespace, name);
    writes.wrote(live);
    if (live.metadata.resourceVersion === resourceVersion) return { ...resource, spec: live.spec };
    throw new Conflict(`${kind.kind} '${name}' was changed by somebody else since resourceVersion ${resourceVersion}: look at it again`);
  }

  /** A failure to read leaves things as they are: the watch will tell. */
  async #readLive<S, T>(kind: Kind<S, T>, writes: OwnWrites<S, T>, { metadata }: Target): Promise<void> {
    const { namespace, name, uid } = metadata;
    try {
      const live = await this.#live.find(kind, namespace, name);
      if (live !== undefined) writes.wrote(live);
      else if (uid !== undefined) writes.ended(uid);
    } catch {
      // The error that brought us here is the one to tell.
    }
  }

  /**
   * A deletion answers with no version, and the one deleted may be another than the cache knew by this name. So everything of
   * this name up to a version taken afterwards is past, but for what is there now: finalizers may keep it.
   */
  async #rememberDeletion<S, T>(kind: Kind<S, T>, writes: OwnWrites<S, T>, namespace: string, name: string): Promise<void> {
    const known = writes.read(`${namespace}/${name}`);
    try {
      const { resourceVersion } = await this.#live.list(kind, { namespace, limit: 1 });
      const live = await this.#live.find(kind, namespace, name);
      if (live === undefined) writes.deleted(`${namespace}/${name}`, resourceVersion);
      else writes.wrote(live);
    } catch {
      if (known !== undefined) writes.ended(known.metadata.uid);
    }
  }
}

interface Target {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid?: string };
}
