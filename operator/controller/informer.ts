import { labels, type Kind, type Resource } from "../../crds/resource.ts";
import type { ResourceStore, WatchEvent } from "../../crds/resource-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import { pause, retry } from "../../domain/retry.ts";
import { KeyIndex } from "./key-index.ts";
import { compareVersions } from "./versions.ts";

export type ChangeListener<S, T> = (resource: Resource<S, T>, deleted: boolean) => void;

export interface InformerOptions {
  readonly onError: (error: unknown) => void;
  /** How long to wait for the next page of the first list, with retries. Default: 2 minutes. */
  readonly syncTimeoutMs?: number;
}

const minRetryMs = 250;
const maxRetryMs = 10_000;
const defaultSyncTimeoutMs = 120_000;

/**
 * Caches all resources of one kind: lists once, then watches from the list's version. When the watch ends, for whatever reason, it lists
 * again and reports resources missing from the list as deleted. It drops versions older than the cached one, unless the store itself went
 * back (a restored backup).
 */
export class Informer<S, T> {
  readonly kind: Kind<S, T>;
  readonly #store: ResourceStore;
  readonly #options: InformerOptions;
  readonly #changeListeners: ChangeListener<S, T>[] = [];
  readonly #progressListeners: (() => void)[] = [];
  readonly #resetListeners: (() => void)[] = [];
  readonly #cache = new Map<string, Resource<S, T>>();
  readonly #ids = new KeyIndex();
  readonly #stop = new AbortController();
  #version: string | undefined;
  /** Runs while the first list is read, and starts again after each page: a long list must not end the start. */
  #syncTimer: NodeJS.Timeout | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(store: ResourceStore, kind: Kind<S, T>, options: InformerOptions) {
    this.kind = kind;
    this.#store = store;
    this.#options = options;
  }

  /** Must not throw. */
  onChange(changed: ChangeListener<S, T>): void {
    this.#changeListeners.push(changed);
  }

  /** Called whenever {@link version} moves, after {@link onChange}. */
  onProgress(progressed: () => void): void {
    this.#progressListeners.push(progressed);
  }

  /** Called when the store went back to an older version: state derived from newer versions is void. */
  onReset(reset: () => void): void {
    this.#resetListeners.push(reset);
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

  /** Keys of the resources with this public id: one, except briefly or by mistake. */
  keysOfId(id: string): Iterable<string> {
    return this.#ids.keys(id);
  }

  /** Is the first list cached? */
  get hasSynced(): boolean {
    return this.#version !== undefined;
  }

  /** Everything up to this version is cached. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Resolves when the first list is cached. @throws Unavailable when the store does not respond in time */
  async start(): Promise<void> {
    const timeoutMs = this.#options.syncTimeoutMs ?? defaultSyncTimeoutMs;
    const late = new AbortController();
    this.#syncTimer = setTimeout(() => late.abort(), timeoutMs);
    const error = await this.#relistUntil(AbortSignal.any([this.#stop.signal, late.signal]));
    clearTimeout(this.#syncTimer);
    if (this.#stop.signal.aborted) return;
    if (!this.hasSynced)
      throw new Unavailable(`${this.kind.plural} could not be listed: no page within ${timeoutMs} ms: ${messageOf(error)}`, {
        cause: error,
      });
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
        for await (const event of this.#store.watch(this.kind, this.#version ?? "", signal)) this.#handle(event);
      } catch (error) {
        if (!signal.aborted) this.#options.onError(error);
      }
      // A watch that ends immediately must not cause lists in a tight loop.
      if (performance.now() - startedAt < minRetryMs) await pause(minRetryMs, signal);
      await this.#relistUntil(signal);
    }
  }

  /** @returns the last error when the signal aborted first */
  async #relistUntil(signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return undefined;
    const { onError } = this.#options;
    return retry(() => this.#relist(signal), { firstMs: minRetryMs, maxMs: maxRetryMs, signal, onFailure: onError }).catch(
      (error: unknown) => error,
    );
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const seen = new Set<string>();
    let next: string | undefined;
    let version: string | undefined;
    do {
      const page = await this.#store.list(this.kind, next === undefined ? {} : { continue: next });
      if (signal.aborted) return;
      if (!this.hasSynced) this.#syncTimer?.refresh();
      if (version === undefined && this.#isOlder(page.resourceVersion)) this.#resetVersions();
      version ??= page.resourceVersion; // From the first page: the watch then delivers changes made while later pages are read.
      for (const resource of page.items) {
        seen.add(keyOf(resource));
        this.#put(resource);
      }
      next = page.continue;
    } while (next !== undefined);
    for (const [key, resource] of this.#cache) if (!seen.has(key)) this.#drop(key, resource);
    this.#progress(version);
  }

  #handle(event: WatchEvent<S, T>): void {
    if (event.type === "bookmark") return this.#progress(event.resourceVersion);
    const { resource } = event;
    if (event.type !== "deleted") this.#put(resource);
    else if (!this.#knowsNewer(resource)) this.#drop(keyOf(resource), resource);
    this.#progress(resource.metadata.resourceVersion);
  }

  #isOlder(version: string): boolean {
    return this.#version !== undefined && compareVersions(version, this.#version) < 0;
  }

  /** The store was reset: cached versions are not comparable. The list replaces the cache, and what it lacks is reported as deleted. */
  #resetVersions(): void {
    this.#version = "0";
    for (const [key, resource] of this.#cache)
      this.#cache.set(key, { ...resource, metadata: { ...resource.metadata, resourceVersion: "0" } });
    for (const reset of this.#resetListeners) reset();
  }

  #progress(version: string): void {
    if (this.#isOlder(version)) return;
    this.#version = version;
    for (const progressed of this.#progressListeners) progressed();
  }

  /** After a paged list, the watch repeats changes that a later page already contained. */
  #knowsNewer({ metadata }: Resource<S, T>): boolean {
    const known = this.#cache.get(`${metadata.namespace}/${metadata.name}`)?.metadata;
    return known !== undefined && compareVersions(metadata.resourceVersion, known.resourceVersion) < 0;
  }

  #put(resource: Resource<S, T>): void {
    const key = keyOf(resource);
    const before = this.#cache.get(key);
    const known = before?.metadata;
    if (known?.uid === resource.metadata.uid && known.resourceVersion === resource.metadata.resourceVersion) return;
    if (this.#knowsNewer(resource)) return;
    this.#cache.set(key, resource);
    this.#ids.set(key, resource.metadata.labels[labels.id]);
    for (const changed of this.#changeListeners) changed(resource, false);
  }

  #drop(key: string, resource: Resource<S, T>): void {
    this.#cache.delete(key);
    this.#ids.set(key, undefined);
    for (const changed of this.#changeListeners) changed(resource, true);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "no answer");

export function keyOf(resource: { readonly metadata: { readonly namespace: string; readonly name: string } }): string {
  return `${resource.metadata.namespace}/${resource.metadata.name}`;
}

export function parseKey(key: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
