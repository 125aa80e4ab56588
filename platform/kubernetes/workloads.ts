import { hash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkloadKind, WorkloadObject } from "../../operator/runner-pool/objects/objects.ts";
import type { LiveObject } from "../../operator/runner-pool/objects/live.ts";
import type { Workloads } from "../../operator/runner-pool/ports.ts";
import type { Kubernetes } from "./access/connection.ts";
import { covers } from "./resources/covers.ts";
import { undefinedWhenMissing } from "./errors.ts";
import { ObjectCache } from "./resources/object-cache.ts";
import { parseObject } from "./object.ts";
import { pathOf } from "./paths.ts";
import { selectorOf } from "./resources/selector.ts";

export const fieldManager = "headwater-operator";
/** Hash of the plan. A field left out of a new plan must be removed, although all planned fields are present. */
const plannedAnnotation = "headwater.dev/planned";

type ObjectKind = WorkloadKind | "Pod";
const collections: Readonly<Record<ObjectKind, readonly string[]>> = {
  ServiceAccount: ["api", "v1", "serviceaccounts"],
  Secret: ["api", "v1", "secrets"],
  Pod: ["api", "v1", "pods"],
  NetworkPolicy: ["apis", "networking.k8s.io", "v1", "networkpolicies"],
  PodDisruptionBudget: ["apis", "policy", "v1", "poddisruptionbudgets"],
  Deployment: ["apis", "apps", "v1", "deployments"],
};
/** Secrets are neither listed nor watched: that right would expose all of the namespace. */
const watchedKinds = ["ServiceAccount", "NetworkPolicy", "PodDisruptionBudget", "Deployment", "Pod"] as const;

export interface WorkloadOptions {
  readonly namespace: string;
  /** Labels of everything that is watched. */
  readonly selector: Readonly<Record<string, string>>;
  /** Label whose value `onChange` receives. */
  readonly keyLabel: string;
  readonly onError: (error: unknown) => void;
  /** How often a Secret, which is not watched, is read again. */
  readonly secretCheckMs?: number;
}

/** Starts nothing yet: call `start`. */
export function createWorkloads(kubernetes: Kubernetes, options: WorkloadOptions): Workloads {
  return new KubernetesWorkloads(kubernetes, options);
}

/** The last plan that was applied to an object. */
interface AppliedPlan {
  readonly planned: string;
  readonly live: LiveObject;
  /** In the time base of `performance.now()`. */
  readonly at: number;
}

/** Kubernetes objects of one namespace that the operator manages. Writes an object only if it differs from the plan. */
class KubernetesWorkloads implements Workloads {
  readonly #kubernetes: Kubernetes;
  readonly #options: WorkloadOptions;
  readonly #listeners: ((key: string) => void)[] = [];
  readonly #stop = new AbortController();
  readonly #applied = new Map<string, AppliedPlan>();
  readonly #caches: ReadonlyMap<ObjectKind, ObjectCache>;

  constructor(kubernetes: Kubernetes, options: WorkloadOptions) {
    this.#kubernetes = kubernetes;
    this.#options = options;
    this.#caches = new Map(watchedKinds.map((kind) => [kind, this.#cacheOf(kind)]));
  }

  async find(kind: ObjectKind, name: string): Promise<LiveObject | undefined> {
    const cache = this.#caches.get(kind);
    return cache === undefined ? readByPatch(this.#kubernetes, this.#options.namespace, kind, name) : cache.get(name);
  }

  async list(kind: ObjectKind, selector: Readonly<Record<string, string>>): Promise<readonly LiveObject[]> {
    return (this.#caches.get(kind)?.values() ?? []).filter(({ metadata }) => hasLabels(metadata.labels, selector));
  }

  async apply(object: WorkloadObject): Promise<LiveObject> {
    const { kind, metadata } = object;
    const key = `${kind}/${metadata.name}`;
    const planned = hashOf(object);
    const last = this.#applied.get(key);
    if (kind === "Secret" && last?.planned === planned && this.#isRecent(last)) return last.live;
    const live = await this.find(kind, metadata.name);
    const settled = live !== undefined && isSettled(live, object, planned, last);
    const next = settled ? live : await patch(this.#kubernetes, object, planned);
    this.#applied.set(key, { planned, live: next, at: performance.now() });
    return next;
  }

  async delete(kind: WorkloadKind, name: string): Promise<void> {
    this.#applied.delete(`${kind}/${name}`);
    await remove(this.#kubernetes, this.#options.namespace, kind, name);
  }

  async prune(selector: Readonly<Record<string, string>>, keep: readonly WorkloadObject[]): Promise<void> {
    const names = new Set(keep.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
    for (const kind of watchedKinds) {
      if (kind === "Pod") continue; // Pods belong to their Deployment.
      for (const { metadata } of await this.list(kind, selector))
        if (!names.has(`${kind}/${metadata.name}`) && metadata.deletionTimestamp === undefined)
          await remove(this.#kubernetes, this.#options.namespace, kind, metadata.name);
    }
  }

  onChange(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  async start(): Promise<void> {
    await Promise.all([...this.#caches.values()].map((cache) => cache.start()));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.race([Promise.all([...this.#caches.values()].map((cache) => cache.ended())), delay(2_000)]);
  }

  #cacheOf(kind: ObjectKind): ObjectCache {
    const { namespace, selector, onError } = this.#options;
    return new ObjectCache(this.#kubernetes, {
      target: { path: collection(namespace, kind), labelSelector: selectorOf(selector) },
      signal: this.#stop.signal,
      onError,
      onChange: (object) => this.#notify(object),
    });
  }

  #notify({ metadata }: LiveObject): void {
    const key = metadata.labels[this.#options.keyLabel];
    if (key !== undefined) for (const listener of this.#listeners) listener(key);
  }

  #isRecent({ at }: AppliedPlan): boolean {
    return performance.now() - at < (this.#options.secretCheckMs ?? 60_000);
  }
}

function isSettled(live: LiveObject, object: WorkloadObject, planned: string, last: AppliedPlan | undefined): boolean {
  if (live.metadata.deletionTimestamp !== undefined) return false;
  // The server may normalize values (1000m, 1): its response to this plan counts as this plan.
  if (last?.planned === planned && last.live.metadata.resourceVersion === live.metadata.resourceVersion) return true;
  const { apiVersion: _version, kind: _kind, ...fields } = object; // The server omits them in lists.
  return live.metadata.annotations[plannedAnnotation] === planned && covers(live, fields);
}

/**
 * An empty patch writes nothing and returns the object. RBAC cannot limit a right to read Secrets to the names of pools; the chart's
 * admission policy limits patches to them.
 */
async function readByPatch(kubernetes: Kubernetes, namespace: string, kind: ObjectKind, name: string): Promise<LiveObject | undefined> {
  return kubernetes
    .request({ method: "PATCH", path: item(namespace, kind, name), contentType: "application/merge-patch+json", body: {} })
    .then(parseObject)
    .catch(undefinedWhenMissing);
}

async function patch(kubernetes: Kubernetes, object: WorkloadObject, planned: string): Promise<LiveObject> {
  const { kind, metadata } = object;
  const annotations = { ...metadata.annotations, [plannedAnnotation]: planned };
  const answer = await kubernetes.request({
    method: "PATCH",
    path: item(metadata.namespace, kind, metadata.name),
    query: { fieldManager, force: true },
    contentType: "application/apply-patch+yaml",
    body: { ...object, metadata: { ...metadata, annotations } },
  });
  return parseObject(answer);
}

async function remove(kubernetes: Kubernetes, namespace: string, kind: ObjectKind, name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
  await kubernetes.request({ method: "DELETE", path: item(namespace, kind, name), body }).catch(undefinedWhenMissing);
}

function collection(namespace: string, kind: ObjectKind): string {
  const parts = collections[kind];
  return pathOf([...parts.slice(0, -1), "namespaces", namespace, ...parts.slice(-1)]);
}

const item = (namespace: string, kind: ObjectKind, name: string): string => `${collection(namespace, kind)}${pathOf([name])}`;

const hasLabels = (labels: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

const hashOf = (object: WorkloadObject): string => hash("sha256", JSON.stringify(object)).slice(0, 32);
