import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ownFieldManager } from "../../../crds/resource.ts";
import { Conflict, HeadwaterError, NotFound } from "../../../domain/errors.ts";
import { backoffMs, pause } from "../../../domain/retry.ts";
import type { Kubernetes } from "../access/connection.ts";
import { undefinedWhenMissing, unreachable } from "../errors.ts";
import { followCollection, type Follower } from "../resources/follow.ts";
import type { KubernetesObject } from "../object.ts";
import type { KubernetesOwnerNamespaces } from "./owner-namespaces.ts";
import { pathOf } from "../paths.ts";

export interface BoundAccount {
  readonly namespace: string;
  readonly name: string;
  readonly clusterRole: string;
}

export interface OwnerRightsOptions {
  /** RoleBindings of each owner's namespace: name of the binding, the bound account and its role. */
  readonly bindings: Readonly<Record<string, BoundAccount>>;
  /** RoleBindings of earlier releases, by name, each with its ClusterRole. A namespace loses them once it has all of `bindings`. */
  readonly former?: Readonly<Record<string, string>>;
  /** Called with failures that are retried, and once with RoleBindings of others under our names. Must not throw. */
  readonly onError?: (error: HeadwaterError) => void;
}

const rbac = "rbac.authorization.k8s.io";
const managedBy = { "app.kubernetes.io/managed-by": "headwater" };
const retryDelay = { firstMs: 2_000, maxMs: 60_000 };

type Namespaces = Pick<KubernetesOwnerNamespaces, "isOwned" | "list" | "onChange">;

/**
 * Keeps the RoleBindings that let Headwater read and write Secrets, only in namespaces of owners. Deleted or changed ones are restored.
 * When a namespace loses its label its bindings stay: removing them would need the right to delete more than those of earlier releases.
 */
export function startOwnerRights(kubernetes: Kubernetes, namespaces: Namespaces, options: OwnerRightsOptions): { stop(): Promise<void> } {
  const rights = new OwnerRights(kubernetes, namespaces, options);
  rights.start();
  return rights;
}

class OwnerRights {
  readonly #kubernetes: Kubernetes;
  readonly #namespaces: Namespaces;
  readonly #options: OwnerRightsOptions;
  readonly #stop = new AbortController();
  /** The existing RoleBindings, by namespace and name. */
  readonly #bound = new Map<string, KubernetesObject>();
  /** Namespaces to check. */
  readonly #pending = new Set<string>();
  readonly #retries = createRetries((namespace) => this.#enqueue(namespace), this.#stop.signal);
  /** Namespaces where another's binding has our name, which has been reported. */
  readonly #conflicting = new Set<string>();
  #wake = Promise.withResolvers<void>();
  #unsubscribe: () => void = () => undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(kubernetes: Kubernetes, namespaces: Namespaces, options: OwnerRightsOptions) {
    this.#kubernetes = kubernetes;
    this.#namespaces = namespaces;
    this.#options = options;
  }

  start(): void {
    const { onError } = this.#options;
    const target = { path: pathOf(["apis", rbac, "v1", "rolebindings"]), labelSelector: "app.kubernetes.io/managed-by=headwater" };
    const watchOptions = { signal: this.#stop.signal, ...(onError === undefined ? {} : { onInterrupted: onError }) };
    this.#unsubscribe = this.#namespaces.onChange((namespace) => this.#enqueue(namespace));
    this.#running = Promise.all([followCollection(this.#kubernetes, target, this.#follower(), watchOptions), this.#work()]);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
  }

  #follower(): Follower {
    return {
      replace: (objects) => {
        this.#bound.clear();
        for (const object of objects) this.#bound.set(keyOf(object), object);
        for (const namespace of this.#namespaces.list()) this.#enqueue(namespace);
      },
      put: (object) => {
        this.#bound.set(keyOf(object), object);
        this.#enqueue(object.metadata.namespace);
      },
      remove: (object) => {
        this.#bound.delete(keyOf(object));
        this.#enqueue(object.metadata.namespace);
      },
    };
  }

  #enqueue(namespace: string): void {
    this.#pending.add(namespace);
    this.#wake.resolve();
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      for (const namespace of this.#pending) {
        this.#pending.delete(namespace);
        if (signal.aborted || !this.#namespaces.isOwned(namespace)) continue;
        this.#settle(namespace, await this.#update(namespace));
      }
    }
  }

  /** @returns the failures */
  async #update(namespace: string): Promise<readonly unknown[]> {
    const { bindings, former = {} } = this.#options;
    const failures = await bindAll(this.#kubernetes, namespace, this.#bound, bindings);
    if (failures.length > 0) return failures;
    for (const [name, clusterRole] of Object.entries(former)) {
      const existing = this.#bound.get(`${namespace}/${name}`);
      if (existing === undefined || binding.parse(existing).roleRef.name !== clusterRole) continue;
      await unbind(this.#kubernetes, existing).catch((error: unknown) => failures.push(error));
    }
    return failures;
  }

  /** Reports failures and schedules their retry. */
  #settle(namespace: string, failures: readonly unknown[]): void {
    const { onError } = this.#options;
    const errors = failures.map((failure) => errorOf(failure, namespace)).filter((error) => !isGone(error));
    if (errors.length === 0) this.#retries.forget(namespace);
    const isRepeated = errors.length > 0 && this.#retries.retry(namespace) > 1;
    const conflicts = errors.filter((error) => error instanceof Conflict);
    for (const error of errors) if (!conflicts.includes(error)) onError?.(error);
    // Either another process of ours created it, which the watch reports in a moment, or someone else did. The latter is reported once, and
    // retried because the watch does not report when their binding is deleted.
    if (isRepeated && !this.#conflicting.has(namespace)) for (const conflict of conflicts) onError?.(conflict);
    if (conflicts.length === 0) this.#conflicting.delete(namespace);
    else if (isRepeated) this.#conflicting.add(namespace);
  }
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
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const [name, account] of Object.entries(bindings)) {
    const roleRef = { apiGroup: rbac, kind: "ClusterRole", name: account.clusterRole };
    const subjects = [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }];
    const desired = { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: { name, namespace, labels: managedBy }, roleRef, subjects };
    await bind(kubernetes, desired, bound.get(`${namespace}/${name}`)).catch((error: unknown) => failures.push(error));
  }
  return failures;
}

const bindingsPath = (namespace: string): string => pathOf(["apis", rbac, "v1", "namespaces", namespace, "rolebindings"]);

async function unbind(kubernetes: Kubernetes, { metadata: { namespace, name, uid } }: KubernetesObject): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
  await kubernetes.request({ method: "DELETE", path: `${bindingsPath(namespace)}${pathOf([name])}`, body }).catch(undefinedWhenMissing);
}

type RoleBinding = { readonly metadata: { readonly name: string; readonly namespace: string } };

async function bind(kubernetes: Kubernetes, desired: RoleBinding, existing: KubernetesObject | undefined): Promise<void> {
  const { name, namespace } = desired.metadata;
  const path = bindingsPath(namespace);
  const query = { fieldManager: ownFieldManager };
  if (existing === undefined) await kubernetes.request({ method: "POST", path, query, body: desired });
  else if (!isSame(existing, desired))
    await kubernetes.request({ method: "PUT", path: `${path}${pathOf([name])}`, query, body: { ...desired, metadata: existing.metadata } });
}

function isSame(existing: unknown, desired: unknown): boolean {
  const [a, b] = [binding.parse(existing), binding.parse(desired)];
  return isDeepStrictEqual([a.roleRef, a.subjects], [b.roleRef, b.subjects]);
}
