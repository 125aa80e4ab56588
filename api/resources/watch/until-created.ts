import { setTimeout as pause } from "node:timers/promises";
import type { Kind, Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { NotFound } from "../../../domain/errors.ts";
import type { Following } from "./following.ts";

const retryMs = 50;

/**
 * Follows a resource that was just created until `read` returns a result; returns undefined if the signal aborts first. The watch may
 * lag: it may still report the deletion of an earlier resource with the same name, which the uid distinguishes.
 * @throws NotFound when the resource was deleted in the meantime
 */
export async function untilCreated<S, T, Result>(
  { kind, created, store }: { readonly kind: Kind<S, T>; readonly created: Resource<S, T>; readonly store: ResourceStore },
  following: Following<S, T>,
  read: (seen: Resource<S, T>) => Result | undefined,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const { namespace, name, uid } = created.metadata;
  for (;;) {
    const seen = await following.until((state) => {
      if (isGone(state)) return "gone" as const;
      const result = read(state);
      return result === undefined ? undefined : { result };
    }, signal);
    if (seen !== "gone") return seen?.result;
    const now = await store.find(kind, namespace, name);
    if (isGone(now) || now.metadata.uid !== uid) throw new NotFound(`the ${kind.kind.toLowerCase()} was deleted in the meantime`);
    await pause(retryMs);
  }
}

function isGone<S, T>(resource: Resource<S, T> | undefined): resource is undefined {
  return resource === undefined || resource.metadata.deletionTimestamp !== undefined;
}
