import { apiVersion, labels, type Kind, type Resource } from "../../crds/resource.ts";
import type { ResourceStore, WatchEvent } from "../../crds/resource-store.ts";
import { Conflict, Gone, NotFound } from "../../domain/errors.ts";

interface Entry {
  readonly version: number;
  readonly type: "added" | "modified" | "deleted";
  readonly resource: Resource;
}

const keyOf = (kind: string, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;

const isIn = ({ metadata }: Resource, namespace: string | undefined): boolean =>
  namespace === undefined || metadata.namespace === namespace;

/** Stores resources in memory. Its watches lag behind as far as a test requires. */
export class MemoryStore implements ResourceStore {
  readonly log: Entry[] = [];
  readonly calls = { find: 0, list: 0, write: 0, watch: 0 };
  pageSize = 1_000;
  /** Watches report changes up to this version. Infinity: all changes, at once. */
  watchLimit = Number.POSITIVE_INFINITY;
  /** Thrown by every call while set. */
  failure: Error | undefined;
  #version = 0;
  #uids = 0;
  #resources = new Map<string, Resource>();
  #wake = Promise.withResolvers<void>();
  #lostAt = 0;

  get version(): number {
    return this.#version;
  }

  advanceWatches(upTo: number): void {
    this.watchLimit = upTo;
    this.#wakeAll();
  }

  /** Ends all watches with Gone, so that they list again. */
  loseWatches(): void {
    this.#lostAt++;
    this.#wakeAll();
  }

  /** As if a backup had been restored: everything is gone, and versions begin again. */
  restoreEmpty(): void {
    this.#resources.clear();
    this.log.length = 0;
    this.#version = 0;
    this.loseWatches();
  }

  async get<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T>> {
    const found = await this.find(kind, namespace, name);
    if (found === undefined) throw new NotFound();
    return found;
  }

  async find<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<Resource<S, T> | undefined> {
    await this.#answer("find");
    return this.#resources.get(keyOf(kind.kind, namespace, name)) as Resource<S, T> | undefined;
  }

  async findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined> {
    await this.#answer("find");
    return [...this.#resources.values()].find((one) => one.kind === kind.kind && one.metadata.labels[labels.id] === id) as
      | Resource<S, T>
      | undefined;
  }

  list: ResourceStore["list"] = async (kind, options = {}) => {
    await this.#answer("list");
    const all = [...this.#resources.values()]
      .filter((one) => one.kind === kind.kind && one.metadata.name > (options.continue ?? "") && isIn(one, options.namespace))
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const items = all.slice(0, Math.min(this.pageSize, options.limit ?? this.pageSize)) as never[];
    const last = all[items.length - 1];
    return {
      items,
      resourceVersion: String(this.#version),
      ...(items.length < all.length && last !== undefined ? { continue: last.metadata.name } : {}),
    };
  };

  create: ResourceStore["create"] = async (kind, { name, namespace, spec, ...given }) => {
    await this.#answer("write");
    if (this.#resources.has(keyOf(kind.kind, namespace, name))) throw new Conflict(`${name} exists`);
    const metadata = {
      name,
      namespace,
      uid: `uid-${++this.#uids}`,
      resourceVersion: "",
      generation: 1,
      creationTimestamp: "2026-11-21T00:00:00Z",
      finalizers: given.finalizers ?? [],
      labels: given.labels ?? {},
      annotations: given.annotations ?? {},
    };
    return this.#put("added", { apiVersion, kind: kind.kind, metadata, spec, status: {} }) as never;
  };

  update: ResourceStore["update"] = async (kind, resource) => {
    const before = await this.#current(kind, resource);
    const { labels: given, annotations, finalizers } = resource.metadata;
    const generation = before.metadata.generation + (JSON.stringify(before.spec) === JSON.stringify(resource.spec) ? 0 : 1);
    const next = { ...before, spec: resource.spec, metadata: { ...before.metadata, labels: given, annotations, finalizers, generation } };
    const ends = next.metadata.deletionTimestamp !== undefined && finalizers.length === 0;
    return this.#put(ends ? "deleted" : "modified", next) as never;
  };

  updateStatus: ResourceStore["updateStatus"] = async (kind, resource) => {
    const before = await this.#current(kind, resource);
    return this.#put("modified", { ...before, status: resource.status }) as never;
  };

  async delete<S, T>(kind: Kind<S, T>, namespace: string, name: string): Promise<void> {
    await this.#answer("write");
    const before = this.#resources.get(keyOf(kind.kind, namespace, name));
    if (before === undefined) throw new NotFound();
    if (before.metadata.finalizers.length === 0) return void this.#put("deleted", before);
    if (before.metadata.deletionTimestamp !== undefined) return;
    this.#put("modified", { ...before, metadata: { ...before.metadata, deletionTimestamp: "2026-11-21T00:00:01Z" } });
  }

  async *watch<S, T>(kind: Kind<S, T>, from: string, signal: AbortSignal): AsyncIterable<WatchEvent<S, T>> {
    await this.#answer("watch");
    if (Number(from) > this.#version) throw new Gone("this version is none of this store");
    const lostAt = this.#lostAt;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    for (let reported = Number(from); !signal.aborted;) {
      if (lostAt !== this.#lostAt) throw new Gone("this version is not known any more");
      const next = this.log.find(({ version, resource }) => version > reported && resource.kind === kind.kind);
      if (next === undefined || next.version > this.watchLimit) {
        await Promise.race([this.#wake.promise, aborted]);
        continue;
      }
      reported = next.version;
      yield { type: next.type, resource: next.resource as Resource<S, T> };
    }
  }

  async #answer(call: keyof MemoryStore["calls"]): Promise<void> {
    this.calls[call]++;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
  }

  async #current(kind: Kind, resource: Resource): Promise<Resource> {
    await this.#answer("write");
    const before = this.#resources.get(keyOf(kind.kind, resource.metadata.namespace, resource.metadata.name));
    if (before === undefined) throw new NotFound();
    if (before.metadata.resourceVersion !== resource.metadata.resourceVersion) throw new Conflict("changed by another writer");
    return before;
  }

  #put(type: Entry["type"], resource: Resource): Resource {
    const version = ++this.#version;
    const next = { ...resource, metadata: { ...resource.metadata, resourceVersion: String(version) } };
    const key = keyOf(resource.kind, resource.metadata.namespace, resource.metadata.name);
    if (type === "deleted") this.#resources.delete(key);
    else this.#resources.set(key, next);
    this.log.push({ version, type, resource: next });
    this.#wakeAll();
    return next;
  }

  #wakeAll(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}
