import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { Conflict, HeadwaterError, NotFound } from "../../../domain/errors.ts";
import { backoffMs, pause } from "../../../domain/retry.ts";
import type { Kubernetes } from "../access/connection.ts";
import { unreachable } from "../errors.ts";
import { followCollection, type Follower } from "../resources/follow.ts";
import type { KubernetesObject } from "../object.ts";
import type { KubernetesOwnerNamespaces } from "./owner-namespaces.ts";
import { pathOf } from "../paths.ts";

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export interface OwnerRightsOptions {
  /** RoleBindings of each owner's namespace: name of the binding and the bound account. */
  readonly bindings: Readonly<Record<string, ServiceAccountName>>;
  /** Called with failures that are retried, and once with RoleBindings of others under our names. Must not throw. */
  readonly onError?: (error: HeadwaterError) => void;
}

const rbac = "rbac.authorization.k8s.io";
const managedBy = { "app.kubernetes.io/managed-by": "headwater" };
/** The ClusterRole they refer to, named as in the chart. */
const clusterRole = "headwater-owner-secrets";
const retryDelay = { firstMs: 2_000, maxMs: 60_000 };

/**
 * Keeps the RoleBindings that let Headwater read and write Secrets, only in namespaces of owners. Deleted or changed ones are restored.
 * When a namespace loses its label its bindings stay: removing them would need the right to delete any.
 */
export function startOwnerRights(
  kubernetes: Kubernetes,
  namespaces: Pick<KubernetesOwnerNamespaces, "isOwned" | "list" | "onChange">,
  options: OwnerRightsOptions,
): { stop(): Promise<void> } {
  const stop = new AbortController();
  const bound = new Map<string, KubernetesObject>();
  const pending = new Set<string>();
  /** Namespaces where another's binding has our name, which has been reported. */
  const conflicting = new Set<string>();
  let wake = Promise.withResolvers<void>();
  const enqueue = (namespace: string): void => {
    pending.add(namespace);
    wake.resolve();
  };
  const retries = createRetries(enqueue, stop.signal);
  const settle = (namespace: string, failures: readonly unknown[]): void => {
    const errors = failures.map((failure) => errorOf(failure, namespace)).filter((error) => !isGone(error));
    if (errors.length === 0) retries.forget(namespace);
    const again = errors.length > 0 && retries.retry(namespace) > 1;
    const conflicts = errors.filter((error) => error instanceof Conflict);
    for (const error of errors) if (!conflicts.includes(error)) options.onError?.(error);
    // Either another process of ours created it, which the watch reports in a moment, or someone else did. The latter is reported once, and
    // retried because the watch does not report when their binding is deleted.
    if (again && !conflicting.has(namespace)) for (const conflict of conflicts) options.onError?.(conflict);
    if (conflicts.length === 0) conflicting.delete(namespace);
    else if (again) conflicting.add(namespace);
  };
  const work = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await wake.promise;
      wake = Promise.withResolvers();
      for (const namespace of pending) {
        pending.delete(namespace);
        if (stop.signal.aborted || !namespaces.isOwned(namespace)) continue;
        settle(namespace, await bindAll(kubernetes, namespace, bound, options.bindings));
      }
    }
  };
  const follower: Follower = {
    replace(objects) {
      bound.clear();
      for (const object of objects) bound.set(keyOf(object), object);
      for (const namespace of namespaces.list()) enqueue(namespace);
    },
    put(object) {
      bound.set(keyOf(object), object);
      enqueue(object.metadata.namespace);
    },
    remove(object) {
      bound.delete(keyOf(object));
      enqueue(object.metadata.namespace);
    },
  };
  const target = { path: pathOf(["apis", rbac, "v1", "rolebindings"]), labelSelector: "app.kubernetes.io/managed-by=headwater" };
  const unsubscribe = namespaces.onChange(enqueue);
  const watchOptions = { signal: stop.signal, ...(options.onError === undefined ? {} : { onInterrupted: options.onError }) };
  const running = Promise.all([followCollection(kubernetes, target, follower, watchOptions), work()]);
  return {
    async stop() {
      unsubscribe();
      stop.abort();
      wake.resolve();
      await running;
    },
  };
}

/** Exponential backoff per namespace. */
function createRetries(enqueue: (namespace: string) => void, signal: AbortSignal) {
  const failed = new Map<string, number>();
  const waiting = new Set<string>();
  return {
    /** @returns the number of consecutive failures */
    retry(namespace: string): number {
      const times = (failed.get(namespace) ?? 0) + 1;
      failed.set(namespace, times);
      if (waiting.has(namespace)) return times;
      waiting.add(namespace);
      void pause(backoffMs(times, retryDelay, Math.random()), signal).then(() => {
        waiting.delete(namespace);
        if (!signal.aborted) enqueue(namespace);
      });
      return times;
    },
    forget: (namespace: string): void => void failed.delete(namespace),
  };
}

function errorOf(failure: unknown, namespace: string): HeadwaterError {
  if (!(failure instanceof HeadwaterError)) return unreachable(failure, `rolebindings of ${namespace}`);
  if (!(failure instanceof Conflict) || isGone(failure)) return failure;
  const message = `the RoleBinding in namespace '${namespace}' cannot be created: ${failure.message}; delete that RoleBinding to have ours created`;
  return new Conflict(message, { cause: failure });
}

/** The namespace is gone or being deleted. */
const isGone = (error: HeadwaterError): boolean => error instanceof NotFound || error.code === "namespace_ends";

const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace}/${metadata.name}`;

const binding = z.looseObject({
  roleRef: z.object({ apiGroup: z.string(), kind: z.string(), name: z.string() }),
  subjects: z.array(z.record(z.string(), z.string())).default([]),
});

/** @returns the failures: one binding that fails does not prevent the others */
async function bindAll(
  kubernetes: Kubernetes,
  namespace: string,
  bound: ReadonlyMap<string, KubernetesObject>,
  bindings: OwnerRightsOptions["bindings"],
): Promise<readonly unknown[]> {
  const roleRef = { apiGroup: rbac, kind: "ClusterRole", name: clusterRole };
  const failures: unknown[] = [];
  for (const [name, account] of Object.entries(bindings)) {
    const subjects = [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }];
    const desired = { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: { name, namespace, labels: managedBy }, roleRef, subjects };
    await bind(kubernetes, desired, bound.get(`${namespace}/${name}`)).catch((error: unknown) => failures.push(error));
  }
  return failures;
}

type RoleBinding = { readonly metadata: { readonly name: string; readonly namespace: string } };

async function bind(kubernetes: Kubernetes, desired: RoleBinding, existing: KubernetesObject | undefined): Promise<void> {
  const { name, namespace } = desired.metadata;
  const path = pathOf(["apis", rbac, "v1", "namespaces", namespace, "rolebindings"]);
  const query = { fieldManager: "headwater" };
  if (existing === undefined) await kubernetes.request({ method: "POST", path, query, body: desired });
  else if (!isSame(existing, desired))
    await kubernetes.request({ method: "PUT", path: `${path}${pathOf([name])}`, query, body: { ...desired, metadata: existing.metadata } });
}

function isSame(existing: unknown, desired: unknown): boolean {
  const [a, b] = [binding.parse(existing), binding.parse(desired)];
  return isDeepStrictEqual([a.roleRef, a.subjects], [b.roleRef, b.subjects]);
}
