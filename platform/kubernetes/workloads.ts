import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkloadKind, WorkloadObject } from "../../operator/runner-pool/objects/objects.ts";
import type { LiveObject, Workloads } from "../../operator/runner-pool/ports.ts";
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

/** Kubernetes objects of one namespace that the operator manages. Writes an object only if it differs from the plan. */
export function createWorkloads(kubernetes: Kubernetes, options: WorkloadOptions): Workloads {
  const { namespace, keyLabel, secretCheckMs = 60_000 } = options;
  const listeners: ((key: string) => void)[] = [];
  const stop = new AbortController();
  const applied = new Map<string, { readonly planned: string; readonly live: LiveObject; readonly at: number }>();
  const changed = ({ metadata }: LiveObject): void => {
    const key = metadata.labels[keyLabel];
    if (key !== undefined) for (const listener of listeners) listener(key);
  };
  const cacheOf = (kind: ObjectKind): ObjectCache =>
    new ObjectCache(kubernetes, {
      target: { path: collection(namespace, kind), labelSelector: selectorOf(options.selector) },
      signal: stop.signal,
      onError: options.onError,
      onChange: changed,
    });
  const caches = new Map<ObjectKind, ObjectCache>(watchedKinds.map((kind) => [kind, cacheOf(kind)]));

  const find = async (kind: ObjectKind, name: string): Promise<LiveObject | undefined> =>
    caches.has(kind) ? caches.get(kind)?.get(name) : read(kubernetes, namespace, kind, name);

  return {
    find,
    list: async (kind, selector) =>
      caches
        .get(kind)
        ?.values()
        .filter(({ metadata }) => hasLabels(metadata.labels, selector)) ?? [],
    apply: async (object) => {
      const { kind, metadata } = object;
      const key = `${kind}/${metadata.name}`;
      const planned = hashOf(object);
      const last = applied.get(key);
      const recent = kind === "Secret" && last?.planned === planned && performance.now() - last.at < secretCheckMs;
      if (recent && last !== undefined) return last.live;
      const live = await find(kind, metadata.name);
      const settled = live !== undefined && isSettled(live, object, planned, last);
      const next = settled ? live : await patch(kubernetes, object, planned);
      applied.set(key, { planned, live: next, at: performance.now() });
      return next;
    },
    delete: async (kind, name) => {
      applied.delete(`${kind}/${name}`);
      await remove(kubernetes, namespace, kind, name);
    },
    prune: async (selector, keep) => {
      const names = new Set(keep.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
      for (const kind of watchedKinds) {
        if (kind === "Pod") continue; // Pods belong to their Deployment.
        for (const { metadata } of caches.get(kind)?.values() ?? [])
          if (hasLabels(metadata.labels, selector) && !names.has(`${kind}/${metadata.name}`) && metadata.deletionTimestamp === undefined)
            await remove(kubernetes, namespace, kind, metadata.name);
      }
    },
    onChange: (listener) => void listeners.push(listener),
    start: async () => void (await Promise.all([...caches.values()].map((each) => each.start()))),
    stop: async () => {
      stop.abort();
      await Promise.race([Promise.all([...caches.values()].map((each) => each.ended())), delay(2_000)]);
    },
  };
}

function isSettled(
  live: LiveObject,
  object: WorkloadObject,
  planned: string,
  last: { readonly planned: string; readonly live: LiveObject } | undefined,
): boolean {
  if (live.metadata.deletionTimestamp !== undefined) return false;
  // The server may normalize values (1000m, 1): its response to this plan counts as this plan.
  if (last?.planned === planned && last.live.metadata.resourceVersion === live.metadata.resourceVersion) return true;
  const { apiVersion: _version, kind: _kind, ...fields } = object; // The server omits them in lists.
  return live.metadata.annotations[plannedAnnotation] === planned && covers(live, fields);
}

async function read(kubernetes: Kubernetes, namespace: string, kind: ObjectKind, name: string): Promise<LiveObject | undefined> {
  return kubernetes
    .request({ method: "GET", path: item(namespace, kind, name) })
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

const hashOf = (object: WorkloadObject): string => createHash("sha256").update(JSON.stringify(object)).digest("hex").slice(0, 32);
