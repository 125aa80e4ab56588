import { HeadwaterError } from "../../../domain/errors.ts";
import { pause } from "../../../domain/retry.ts";
import type { Kubernetes } from "../access/connection.ts";
import { unreachable } from "../errors.ts";
import { parseObject, type KubernetesObject } from "../object.ts";
import { pagesOf } from "./pages.ts";
import { watchObjects, type WatchOptions, type WatchTarget } from "./watch.ts";

export interface Follower {
  /** All objects: initially, and after changes were missed. */
  replace(objects: readonly KubernetesObject[]): void;
  put(object: KubernetesObject): void;
  /** Deleted, or no longer selected. */
  remove(object: KubernetesObject): void;
}

const pauseMs = 1_000;

/** Lists a collection and reports every change until the signal aborts. Recovers from all failures. */
export async function followCollection(
  kubernetes: Kubernetes,
  target: WatchTarget,
  follower: Follower,
  options: WatchOptions,
): Promise<void> {
  const { signal, onInterrupted } = options;
  while (!signal.aborted) {
    try {
      const { objects, version } = await listAll(kubernetes, target, signal);
      follower.replace(objects);
      for await (const event of watchObjects(kubernetes, target, version, options)) {
        if (event.type === "deleted") follower.remove(event.object);
        else if (event.type !== "bookmark") follower.put(event.object);
      }
    } catch (error) {
      if (signal.aborted) return;
      onInterrupted?.(error instanceof HeadwaterError ? error : unreachable(error, `list ${target.path}`));
      await pause(pauseMs, signal);
    }
  }
}

/** @throws Gone when it takes so long that the server drops the list's snapshot */
export async function listAll(
  kubernetes: Kubernetes,
  { path, labelSelector, fieldSelector }: WatchTarget,
  signal?: AbortSignal,
): Promise<{ readonly objects: readonly KubernetesObject[]; readonly version: string }> {
  const objects: KubernetesObject[] = [];
  let version = "";
  const list = { path, query: { labelSelector, fieldSelector }, ...(signal === undefined ? {} : { signal }) };
  for await (const { metadata, items } of pagesOf(kubernetes, list)) {
    objects.push(...items.map(parseObject));
    version = metadata.resourceVersion;
  }
  return { objects, version };
}
