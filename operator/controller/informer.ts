import { setTimeout as sleep } from "node:timers/promises";
import { labels, type Kind, type Resource } from "../../crds/resource.ts";
import type { ResourceStore, WatchEvent } from "../../crds/resource-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import { KeyIndex } from "./key-index.ts";
import { compareVersions } from "./versions.ts";

export type Changed<S, T> = (resource: Resource<S, T>, deleted: boolean) => void;

export interface InformerOptions<S, T> {
  readonly onError: (error: unknown) => void;
  /** What is kept of a resource, for kinds with large fields that few need; all of it by default. */
  readonly project?: (resource: Resource<S, T>) => Resource<S, T>;
  /** How long to go on trying for the first list. Default: 2 minutes. */
  readonly syncTimeoutMs?: number;
}

const shortestRetryMs = 250;
const longestRetryMs = 10_000;
const defaultSyncTimeoutMs = 120_000;

/**
 * All resources of one kind as the store last told of them: listed once, then watched from the list's version. When the watch
 * ends, for whatever reason, it is listed again; what was deleted in between is told as deleted. The cache never goes back: an
 * older version than the one it holds is dropped, unless the whole store went back (a backup was restored).
 */
export class Informer<S, T> {
  readonly kind: Kind<S, T>;
  readonly #store: ResourceStore;
  readonly #options: InformerOptions<S, T>;
  readonly #changed: Changed<S, T>[] = [];
  readonly #progressed: (() => void)[] = [];
  readonly #reset: (() => void)[] = [];
  readonly #cache = new Map<string, Resource<S, T>>();
  readonly #ids = new KeyIndex();
  readonly #projected = new WeakSet<object>();
  readonly #stop = new AbortController();
  #version: string | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(store: ResourceStore, kind: Kind<S, T>, options: InformerOptions<S, T>) {
    this.kind = kind;
    this.#store = store;
    this.#options = options;
  }

  /** Told of the resource as the store has it, projected or not. Must not throw. */
  onChange(changed: Changed<S, T>): void {
    this.#changed.push(changed);
  }

  /** Told whenever {@link version} moves, after {@link onChange}. */
  onProgress(progressed: () => void): void {
    this.#progressed.push(progressed);
  }

  /** Told when the store went back to an older version: whatever was learned from newer ones is void. */
  onReset(reset: () => void): void {
    this.#reset.push(reset);
  }

  get(key: string): Resource<S, T> | undefined {
    return this.#cache.get(key);
  }

  values(): IterableIterator<Resource<S, T>> {
    return this.#cache.values();
  }

  keys(): IterableIterator<string> {
    return this.#cache.keys();
  }

  get size(): number {
    return this.#cache.size;
  }

  /** Keys of those with this public id: one, but for a moment or a mistake. */
  keysOfId(id: string): Iterable<string> {
    return this.#ids.keys(id);
  }

  /** Is the first list in the cache? */
  get hasSynced(): boolean {
    return this.#version !== undefined;
  }

  /** Everything up to this version is in the cache. */
  get version(): string | undefined {
    return this.#version;
  }

  /** The part of a resource that the cache keeps. */
  project(resource: Resource<S, T>): Resource<S, T> {
    if (this.#options.project === undefined) return resource;
    const projected = this.#options.project(resource);
    if (isObject(projected.spec) && projected.spec !== resource.spec) this.#projected.add(projected.spec);
    return projected;
  }

  get projects(): boolean {
    return this.#options.project !== undefined;
  }

  /** Is its spec one that lacks something? Copies of the resource share it. */
  isProjected({ spec }: Resource<S, T>): boolean {
    return isObject(spec) && this.#projected.has(spec);
  }

  /** Resolves when the first list is in the cache. @throws Unavailable when the store does not answer in time */
  async start(): Promise<void> {
    const timeoutMs = this.#options.syncTimeoutMs ?? defaultSyncTimeoutMs;
    const error = await this.#relistUntil(AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]));
    if (this.#stop.signal.aborted) return;
    if (!this.hasSynced)
      throw new Unavailable(`${this.kind.plural} could not be listed within ${timeoutMs} ms: ${messageOf(error)}`, { cause: error });
    this.#loop = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        for await (const event of this.#store.watch(this.kind, this.#version ?? "", signal)) this.#take(event);
      } catch (error) {
        if (!signal.aborted) this.#options.onError(error);
      }
      // A watch that ends as soon as it begins must not have the whole kind listed without a pause.
      if (performance.now() - startedAt < shortestRetryMs) await pause(shortestRetryMs, signal);
      await this.#relistUntil(signal);
    }
  }

  /** @returns the last error when the signal came first */
  async #relistUntil(signal: AbortSignal): Promise<unknown> {
    let last: unknown;
    for (let waitMs = shortestRetryMs; !signal.aborted; waitMs = Math.min(longestRetryMs, waitMs * 2)) {
      try {
        return await this.#relist(signal);
      } catch (error) {
        last = error;
        if (signal.aborted) break;
        this.#options.onError(error);
        await pause(waitMs, signal);
      }
    }
    return last;
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    let next: string | undefined;
    let version: string | undefined;
    do {
      const page = await this.#store.list(this.kind, next === undefined ? {} : { continue: next });
      if (signal.aborted) return;
      if (version === undefined && this.#isPast(page.resourceVersion)) this.#startOver();
      version ??= page.resourceVersion; // The first page's: what changes while we read is then told by the watch.
      for (const resource of page.items) {
        seen.add(keyOf(resource));
        this.#put(resource);
      }
      next = page.continue;
    } while (next !== undefined);
    for (const [key, resource] of this.#cache) if (!seen.has(key)) this.#drop(key, resource);
    this.#progress(version);
  }

  #take(event: WatchEvent<S, T>): void {
    if (event.type === "bookmark") return this.#progress(event.resourceVersion);
    const { resource } = event;
    if (event.type !== "deleted") this.#put(resource);
    else if (!this.#knowsNewer(resource)) this.#drop(keyOf(resource), resource);
    this.#progress(resource.metadata.resourceVersion);
  }

  #isPast(version: string): boolean {
    return this.#version !== undefined && compareVersions(version, this.#version) < 0;
  }

  /** What is cached has versions of another past; it is replaced by the list, and what the list lacks is told as deleted. */
  #startOver(): void {
    this.#version = "0";
    for (const [key, resource] of this.#cache)
      this.#cache.set(key, { ...resource, metadata: { ...resource.metadata, resourceVersion: "0" } });
    for (const reset of this.#reset) reset();
  }

  #progress(version: string): void {
    if (this.#isPast(version)) return;
    this.#version = version;
    for (const progressed of this.#progressed) progressed();
  }

  /** After a list that was read page by page, the watch tells once more of what some page had already. */
  #knowsNewer({ metadata }: Resource<S, T>): boolean {
    const known = this.#cache.get(`${metadata.namespace}/${metadata.name}`)?.metadata;
    return known !== undefined && compareVersions(metadata.resourceVersion, known.resourceVersion) < 0;
  }

  #put(resource: Resource<S, T>): void {
    const key = keyOf(resource);
    const known = this.#cache.get(key)?.metadata;
    if (known?.uid === resource.metadata.uid && known.resourceVersion === resource.metadata.resourceVersion) return;
    if (this.#knowsNewer(resource)) return;
    this.#cache.set(key, this.project(resource));
    this.#ids.set(key, resource.metadata.labels[labels.id]);
    for (const changed of this.#changed) changed(resource, false);
  }

  #drop(key: string, resource: Resource<S, T>): void {
    this.#cache.delete(key);
    this.#ids.set(key, undefined);
    for (const changed of this.#changed) changed(resource, true);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "no answer");

export function keyOf(resource: { readonly metadata: { readonly namespace: string; readonly name: string } }): string {
  return `${resource.metadata.namespace}/${resource.metadata.name}`;
}

export function parseKey(key: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
