import type { ListOptions, ResourceList, ResourceStore, WatchEvent } from "../../../crds/resource-store.ts";
import { labels, ownFieldManager as fieldManager, type Kind, type Resource } from "../../../crds/resource.ts";
import { resourceWithId } from "../../../crds/public-id.ts";
import { parseStatus } from "../../../crds/validate.ts";
import { Conflict, InvalidInput, type HeadwaterError } from "../../../domain/errors.ts";
import type { Kubernetes } from "../access/connection.ts";
import { undefinedWhenMissing } from "../errors.ts";
import { parseObject, parseObjectList } from "../object.ts";
import { createPageSizes, type PageSizes } from "./page-size.ts";
import { changedObject, collectionPath, newObject, resourceFrom, resourcePath } from "./resource-object.ts";
import { selectorOf } from "./selector.ts";
import { watchObjects } from "./watch.ts";

export interface KubernetesStoreOptions {
  /** Called once per attempt with each failure that a watch recovers from. Must not throw. */
  readonly onWatchInterrupted?: (kind: string, error: HeadwaterError) => void;
  /** See WatchOptions. */
  readonly watchLastsSeconds?: number;
}

const maxPageSize = 1_000;

/**
 * Stores resources as custom resources of a cluster.
 *
 * `update` reads the object, refuses if its version is not the one the caller changed, and writes it back with those changes. The extra
 * request preserves fields that others wrote and we do not know. Alternatives: in a merge patch null removes a field, so it cannot be a
 * prop's value; server-side apply requires remembering what we applied to remove a field; writing only known fields removes those of a
 * newer Headwater. The status is ours alone and replaced as a whole, in one request.
 */
export function createKubernetesResourceStore(kubernetes: Kubernetes, options: KubernetesStoreOptions = {}): ResourceStore {
  const sizes = createPageSizes();
  const read = (kind: Kind, namespace: string, name: string): Promise<unknown> =>
    kubernetes.request({ method: "GET", path: resourcePath(kind, namespace, name) });
  return {
    get: async (kind, namespace, name) => resourceFrom(kind, await read(kind, namespace, name)),
    async find(kind, namespace, name) {
      const found = await read(kind, namespace, name).catch(undefinedWhenMissing);
      return found === undefined ? undefined : resourceFrom(kind, found);
    },
    async findById(kind, id) {
      if (!/^[A-Za-z0-9_.-]{1,63}$/.test(id)) return undefined; // No label has such a value, and a selector cannot express it.
      const { items } = await listOnce(kubernetes, kind, { labels: { [labels.id]: id } });
      return resourceWithId(id, items);
    },
    async list(kind, asked = {}) {
      const isWholeKind = asked.namespace === undefined && asked.labels === undefined;
      const { limit = isWholeKind ? sizes.of(kind.kind) : maxPageSize } = asked;
      if (!Number.isInteger(limit) || limit < 1 || limit > maxPageSize)
        throw new InvalidInput(`limit ${limit} is invalid: must be an integer from 1 to ${maxPageSize}`);
      return listOnce(kubernetes, kind, { ...asked, limit }, isWholeKind ? sizes : undefined);
    },
    async create(kind, given) {
      const body = newObject(kind, given);
      const query = { fieldManager, fieldValidation: "Strict" };
      return resourceFrom(kind, await kubernetes.request({ method: "POST", path: collectionPath(kind, given.namespace), query, body }));
    },
    async update(kind, resource) {
      const { namespace, name, resourceVersion } = resource.metadata;
      const stored = await read(kind, namespace, name);
      if (parseObject(stored).metadata.resourceVersion !== resourceVersion) throw versionConflict(resource);
      const body = changedObject(kind, stored, resource);
      if (body === undefined) return resourceFrom(kind, stored);
      const query = { fieldManager, fieldValidation: "Strict" };
      return resourceFrom(kind, await kubernetes.request({ method: "PUT", path: resourcePath(kind, namespace, name), query, body }));
    },
    async updateStatus(kind, resource) {
      const { namespace, name, resourceVersion } = resource.metadata;
      // Replacing the version with itself makes the patch conflict if the version differs.
      const body = [
        { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
        { op: "add", path: "/status", value: parseStatus(kind, name, resource.status) },
      ];
      const response = await kubernetes.request({
        method: "PATCH",
        path: `${resourcePath(kind, namespace, name)}/status`,
        query: { fieldManager },
        contentType: "application/json-patch+json",
        body,
      });
      return resourceFrom(kind, response);
    },
    async delete(kind, namespace, name) {
      const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
      await kubernetes.request({ method: "DELETE", path: resourcePath(kind, namespace, name), body });
    },
    watch: (kind, version, signal) => watchKind(kubernetes, kind, version, signal, options),
  };
}

async function listOnce<S, T>(
  kubernetes: Kubernetes,
  kind: Kind<S, T>,
  asked: ListOptions,
  sizes?: PageSizes,
): Promise<ResourceList<S, T>> {
  const response = await kubernetes.request({
    method: "GET",
    path: collectionPath(kind, asked.namespace),
    query: { limit: asked.limit, continue: asked.continue, labelSelector: asked.labels && selectorOf(asked.labels) },
  });
  const { metadata, items } = parseObjectList(response);
  sizes?.learn(kind.kind, items);
  return {
    items: items.map((item) => resourceFrom(kind, item)),
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continue === "" ? {} : { continue: metadata.continue }),
  };
}

async function* watchKind<S, T>(
  kubernetes: Kubernetes,
  kind: Kind<S, T>,
  version: string,
  signal: AbortSignal,
  { onWatchInterrupted, watchLastsSeconds }: KubernetesStoreOptions,
): AsyncGenerator<WatchEvent<S, T>> {
  const options = {
    signal,
    onInterrupted: (error: HeadwaterError): void => onWatchInterrupted?.(kind.kind, error),
    ...(watchLastsSeconds === undefined ? {} : { lastsSeconds: watchLastsSeconds }),
  };
  for await (const event of watchObjects(kubernetes, { path: collectionPath(kind, undefined) }, version, options))
    yield event.type === "bookmark" ? event : { type: event.type, resource: resourceFrom(kind, event.object) };
}

function versionConflict({ kind, metadata }: Resource): Conflict {
  return new Conflict(
    `${kind} '${metadata.name}' was changed since resourceVersion ${metadata.resourceVersion}: read it again and repeat the change`,
  );
}
