import { Unavailable } from "../../../domain/errors.ts";
import type { Kubernetes } from "../access/connection.ts";
import { followCollection } from "./follow.ts";
import type { KubernetesObject } from "../object.ts";
import type { WatchTarget } from "./watch.ts";

export interface CacheOptions {
  readonly target: WatchTarget;
  readonly signal: AbortSignal;
  /** Must not throw. */
  readonly onChange: (object: KubernetesObject) => void;
  readonly onError: (error: unknown) => void;
}

/** Caches the objects of a collection in one namespace, by name. */
export class ObjectCache {
  readonly #kubernetes: Kubernetes;
  readonly #options: CacheOptions;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #read = Promise.withResolvers<void>();
  #following: Promise<void> = Promise.resolve();

  constructor(kubernetes: Kubernetes, options: CacheOptions) {
    this.#kubernetes = kubernetes;
    this.#options = options;
  }

  get(name: string): KubernetesObject | undefined {
    return this.#objects.get(name);
  }

  values(): readonly KubernetesObject[] {
    return [...this.#objects.values()];
  }

  /**
   * Resolves when everything has been read, however long the server or a right is missing. Watches until the signal aborts.
   * @throws Unavailable when it aborts before
   */
  async start(): Promise<void> {
    const { target, signal, onError } = this.#options;
    const follower = {
      replace: (objects: readonly KubernetesObject[]) => this.#replace(objects),
      put: (object: KubernetesObject) => this.#put(object),
      remove: (object: KubernetesObject) => this.#drop(object),
    };
    this.#following = followCollection(this.#kubernetes, target, follower, { signal, onInterrupted: onError }).then(() =>
      this.#read.reject(new Unavailable(`${target.path} was not read before it was stopped`)),
    );
    await this.#read.promise;
  }

  /** Resolves when the watch has ended after the abort. */
  ended(): Promise<void> {
    return this.#following;
  }

  #replace(objects: readonly KubernetesObject[]): void {
    const names = new Set(objects.map(({ metadata }) => metadata.name));
    for (const object of this.#objects.values()) if (!names.has(object.metadata.name)) this.#drop(object);
    for (const object of objects) this.#put(object);
    this.#read.resolve();
  }

  #put(object: KubernetesObject): void {
    const { name, resourceVersion } = object.metadata;
    if (this.#objects.get(name)?.metadata.resourceVersion === resourceVersion) return;
    this.#objects.set(name, object);
    this.#options.onChange(object);
  }

  #drop(object: KubernetesObject): void {
    this.#objects.delete(object.metadata.name);
    this.#options.onChange(object);
  }
}
