import { pause } from "../../../domain/retry.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import type { Kind, Resource } from "../../../crds/resource.ts";
import type { Log } from "../../../domain/log.ts";
import { Following } from "./following.ts";

const retryMs = 500;

/**
 * Shares one watch of a kind among all requests that wait for its resources: a request costs a map entry instead of a poll or its own
 * watch. When the watch has to restart, all waiting requests are notified of the current state of their resource.
 */
export class ResourceWatch<S, T> {
  readonly #store: ResourceStore;
  readonly #kind: Kind<S, T>;
  readonly #log: Log;
  readonly #followings = new Map<string, Set<Following<S, T>>>();
  readonly #listeners: ((key: string | undefined) => void)[] = [];
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(store: ResourceStore, kind: Kind<S, T>, log: Log) {
    this.#store = store;
    this.#kind = kind;
    this.#log = log;
  }

  /** Resolves when changes are being watched. */
  async start(): Promise<void> {
    this.#running = this.#run(await this.#now());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Notifies of the changed `namespace/name`; with undefined if changes of any resource may have been missed. */
  onChange(listener: (key: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** Call before the write whose effect you wait for, so that no change is missed. Always call `end`. */
  follow(namespace: string, name: string): Following<S, T> {
    const key = keyOf(namespace, name);
    const following: Following<S, T> = new Following({ namespace, name }, () => {
      const others = this.#followings.get(key);
      others?.delete(following);
      if (others?.size === 0) this.#followings.delete(key);
    });
    const all = this.#followings.get(key) ?? new Set();
    this.#followings.set(key, all.add(following));
    return following;
  }

  async #now(): Promise<string> {
    return (await this.#store.list(this.#kind, { limit: 1 })).resourceVersion;
  }

  async #run(first: string): Promise<void> {
    const { signal } = this.#stopping;
    let version = first;
    while (!signal.aborted) {
      try {
        for await (const event of this.#store.watch(this.#kind, version, signal)) {
          if (event.type === "bookmark") {
            version = event.resourceVersion;
            continue;
          }
          version = event.resource.metadata.resourceVersion;
          this.#notify(event.resource, event.type === "deleted");
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ op: "resource.watch", kind: this.#kind.kind, err: error }, "a watch ended, restarting it");
        version = await this.#restart(version);
      }
    }
  }

  #notify(resource: Resource<S, T>, deleted: boolean): void {
    const key = keyOf(resource.metadata.namespace, resource.metadata.name);
    for (const listener of this.#listeners) listener(key);
    for (const following of this.#followings.get(key) ?? []) following.notify(deleted ? undefined : resource);
  }

  /** Reads the resources of all waiting requests, because anything may have changed. Resolves with the version to continue from. */
  async #restart(version: string): Promise<string> {
    const { signal } = this.#stopping;
    await pause(retryMs, signal);
    try {
      const next = await this.#now();
      for (const listener of this.#listeners) listener(undefined);
      for (const following of [...this.#followings.values()].flatMap((all) => [...all])) {
        following.notify(await this.#store.find(this.#kind, following.of.namespace, following.of.name));
      }
      return next;
    } catch (error) {
      this.#log.warn({ op: "resource.list", kind: this.#kind.kind, err: error }, "the store cannot be read, trying again");
      return version;
    }
  }
}

export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
