import { Gone } from "../../../domain/errors.ts";
import { labels } from "../../../crds/resource.ts";
import type { Kubernetes } from "../access/connection.ts";
import { createPageSizes } from "../resources/page-size.ts";
import { pagesOf } from "../resources/pages.ts";
import { collectionOf, namespaceKind, ownersKinds, ownKinds, savedObject, type SavedObject } from "./saved-object.ts";

/** Of the cluster itself, or of other programs. */
const foreignTypes = ["kubernetes.io/service-account-token", "helm.sh/release.v1"];
const foreignConfigMaps = ["kube-root-ca.crt", "openshift-service-ca.crt"];

/**
 * The objects of an installation as JSON lines: namespaces of owners, every resource of our kinds, and the Secrets and ConfigMaps in
 * those namespaces. At most one page is in memory. @throws what the client throws
 */
export async function* resourceLines(kubernetes: Kubernetes, onKind: (plural: string, count: number) => void): AsyncGenerator<Uint8Array> {
  const namespaces: string[] = [];
  for await (const object of listed(kubernetes, namespaceKind, collectionOf(namespaceKind), labels.owner)) {
    namespaces.push(object.metadata.name);
    yield lineOf({ ...object, spec: undefined, status: undefined, metadata: { ...object.metadata, finalizers: [] } });
  }
  onKind(namespaceKind.plural, namespaces.length);
  for (const kind of ownKinds) yield* saved(kubernetes, kind, [collectionOf(kind)], onKind);
  for (const kind of ownersKinds)
    yield* saved(
      kubernetes,
      kind,
      namespaces.map((namespace) => collectionOf(kind, namespace)),
      onKind,
    );
}

type Kind = (typeof ownKinds)[number];

async function* saved(
  kubernetes: Kubernetes,
  kind: Kind,
  paths: readonly string[],
  onKind: (plural: string, count: number) => void,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for (const path of paths)
    for await (const object of listed(kubernetes, kind, path)) {
      if (isForeign(object)) continue;
      count++;
      yield lineOf(object);
    }
  onKind(kind.plural, count);
}

/**
 * Objects of a kind, each once. The API server drops the snapshot of a list after some minutes, which a slow target of the backup may
 * exceed: then a new list continues with the objects that are not saved yet.
 */
async function* listed(kubernetes: Kubernetes, kind: Kind, path: string, labelSelector?: string): AsyncGenerator<SavedObject> {
  const saved = new Set<string>();
  for (let isComplete = false; !isComplete;) {
    try {
      for await (const object of listedOnce(kubernetes, kind, path, labelSelector)) {
        if (saved.has(object.metadata.uid)) continue;
        saved.add(object.metadata.uid);
        yield object;
      }
      isComplete = true;
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
    }
  }
}

async function* listedOnce(kubernetes: Kubernetes, kind: Kind, path: string, labelSelector?: string): AsyncGenerator<SavedObject> {
  const sizes = createPageSizes();
  for await (const { items } of pagesOf(kubernetes, { path, query: { labelSelector }, pageSize: () => sizes.of(kind.kind) })) {
    sizes.learn(kind.kind, items);
    // Items of a list lack their kind.
    for (const item of items) yield savedObject.parse({ ...(item as object), apiVersion: kind.apiVersion, kind: kind.kind });
  }
}

function isForeign({ kind, metadata, ...rest }: SavedObject): boolean {
  if (kind === "Secret") return "type" in rest && foreignTypes.includes(String(rest["type"]));
  return kind === "ConfigMap" && foreignConfigMaps.includes(metadata.name);
}

const lineOf = (object: SavedObject): Uint8Array => Buffer.from(`${JSON.stringify(object)}\n`);
