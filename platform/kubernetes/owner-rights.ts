import { isDeepStrictEqual } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { Conflict, HeadwaterError, NotFound } from "../../domain/errors.ts";
import type { Kubernetes } from "./connection.ts";
import { unreachable } from "./errors.ts";
import { followCollection, type Follower } from "./follow.ts";
import type { KubernetesObject } from "./object.ts";
import type { KubernetesOwnerNamespaces } from "./owner-namespaces.ts";
import { pathOf } from "./paths.ts";

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export interface OwnerRightsOptions {
  /** RoleBindings that each namespace of an owner has: name of the binding and who is bound. */
  readonly bindings: Readonly<Record<string, ServiceAccountName>>;
  /** Told of what could not be done and is tried again, and once of bindings that somebody else made under our names. Must not throw. */
  readonly onError?: (error: HeadwaterError) => void;
}

const rbac = "rbac.authorization.k8s.io";
const managedBy = { "app.kubernetes.io/managed-by": "headwater" };
/** What they are bound to: the chart's name. */
const clusterRole = "headwater-owner-secrets";
const retryMs = { first: 2_000, most: 60_000 };

/**
 * Keeps the RoleBindings by which Headwater may read and write Secrets, in the namespaces of owners and nowhere else. One that is
 * deleted or changed is put right. When a namespace loses its label its bindings stay: taking them away would need the right to
 * delete anybody's.
 */
export function startOwnerRights(
  kubernetes: Kubernetes,
  namespaces: Pick<KubernetesOwnerNamespaces, "isOwned" | "list" | "onChange">,
  options: OwnerRightsOptions,
): { stop(): Promise<void> } {
  const stop = new AbortController();
  const bound = new Map<string, KubernetesObject>();
  const pending = new Set<string>();
  /** Where somebody else has our names, which was told. */
  const taken = new Set<string>();
  let wake = Promise.withResolvers<void>();
  const look = (namespace: string): void => {
    pending.add(namespace);
    wake.resolve();
  };
  const retries = createRetries(look, stop.signal);
  const settle = (namespace: string, failures: readonly unknown[]): void => {
    const errors = failures.map((failure) => errorOf(failure, namespace)).filter((error) => !isGone(error));
    if (errors.length === 0) retries.forget(namespace);
    const again = errors.length > 0 && retries.lookLater(namespace) > 1;
    const conflicts = errors.filter((error) => error instanceof Conflict);
    for (const error of errors) if (!conflicts.includes(error)) options.onError?.(error);
    // Made by another process of ours, of which the watch tells in a moment; else by somebody else under our name. That is told once,
    // and looked at again, since of its end the watch does not tell.
    if (again && !taken.has(namespace)) for (const conflict of conflicts) options.onError?.(conflict);
    if (conflicts.length === 0) taken.delete(namespace);
    else if (again) taken.add(namespace);
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
      for (const namespace of namespaces.list()) look(namespace);
    },
    put(object) {
      bound.set(keyOf(object), object);
      look(object.metadata.namespace);
    },
    remove(object) {
      bound.delete(keyOf(object));
      look(object.metadata.namespace);
    },
  };
  const target = { path: pathOf(["apis", rbac, "v1", "rolebindings"]), labelSelector: "app.kubernetes.io/managed-by=headwater" };
  const end = namespaces.onChange(look);
  const told = { signal: stop.signal, ...(options.onError === undefined ? {} : { onInterrupted: options.onError }) };
  const running = Promise.all([followCollection(kubernetes, target, follower, told), work()]);
  return {
    async stop() {
      end();
      stop.abort();
      wake.resolve();
      await running;
    },
  };
}

/** The oftener in a row something went wrong in a namespace, the later it is looked at again. */
function createRetries(look: (namespace: string) => void, signal: AbortSignal) {
  const failed = new Map<string, number>();
  const waiting = new Set<string>();
  return {
    /** @returns how often in a row it went wrong */
    lookLater(namespace: string): number {
      const times = (failed.get(namespace) ?? 0) + 1;
      failed.set(namespace, times);
      if (waiting.has(namespace)) return times;
      waiting.add(namespace);
      const again = (): void => {
        waiting.delete(namespace);
        look(namespace);
      };
      delay(Math.min(retryMs.most, retryMs.first * 2 ** (times - 1)), undefined, { signal }).then(again, () => undefined);
      return times;
    },
    forget: (namespace: string): void => void failed.delete(namespace),
  };
}

function errorOf(failure: unknown, namespace: string): HeadwaterError {
  if (!(failure instanceof HeadwaterError)) return unreachable(failure, `rolebindings of ${namespace}`);
  if (!(failure instanceof Conflict) || isGone(failure)) return failure;
  const message = `a right in namespace '${namespace}' cannot be given: ${failure.message}; delete that RoleBinding, and ours is made`;
  return new Conflict(message, { cause: failure });
}

/** The namespace is gone, or going. */
const isGone = (error: HeadwaterError): boolean => error instanceof NotFound || error.code === "namespace_ends";

const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace}/${metadata.name}`;

const binding = z.looseObject({
  roleRef: z.object({ apiGroup: z.string(), kind: z.string(), name: z.string() }),
  subjects: z.array(z.record(z.string(), z.string())).default([]),
});

/** @returns what went wrong: one binding that cannot be made is no reason to do without the other */
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
    const wanted = { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: { name, namespace, labels: managedBy }, roleRef, subjects };
    await bind(kubernetes, wanted, bound.get(`${namespace}/${name}`)).catch((error: unknown) => failures.push(error));
  }
  return failures;
}

type Wanted = { readonly metadata: { readonly name: string; readonly namespace: string } };

async function bind(kubernetes: Kubernetes, wanted: Wanted, there: KubernetesObject | undefined): Promise<void> {
  const { name, namespace } = wanted.metadata;
  const path = pathOf(["apis", rbac, "v1", "namespaces", namespace, "rolebindings"]);
  const query = { fieldManager: "headwater" };
  if (there === undefined) await kubernetes.request({ method: "POST", path, query, body: wanted });
  else if (!isSame(there, wanted))
    await kubernetes.request({ method: "PUT", path: `${path}${pathOf([name])}`, query, body: { ...wanted, metadata: there.metadata } });
}

function isSame(there: unknown, wanted: unknown): boolean {
  const [a, b] = [binding.parse(there), binding.parse(wanted)];
  return isDeepStrictEqual([a.roleRef, a.subjects], [b.roleRef, b.subjects]);
}
