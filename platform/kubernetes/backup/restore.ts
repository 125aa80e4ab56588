import { z } from "zod";
import { Conflict, Invariant, NotFound } from "../../../domain/errors.ts";
import type { Kubernetes } from "../access/connection.ts";
import { parseObject, parseObjectList, type KubernetesObject } from "../object.ts";
import { pathOf } from "../paths.ts";
import { createLines } from "../resources/lines.ts";
import { collectionOf, kindOf, ownKinds, savedObject, type SavedObject } from "./saved-object.ts";

/** A resource whose generation is another one than before: the API server starts with 1. */
export interface MovedGeneration {
  readonly kind: string;
  /** Public id. */
  readonly id: string;
  readonly saved: number;
  readonly restored: number;
}

/** Without the code of components. */
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** The cluster may hold the saved objects themselves, as when only the servers change. @throws Conflict when it has other resources of our kinds */
export async function requireOnlySaved(kubernetes: Kubernetes, lines: AsyncIterable<Uint8Array>): Promise<void> {
  const saved = new Set<string>();
  for await (const line of createLines(lines)) saved.add(savedObject.parse(JSON.parse(line)).metadata.uid);
  for (const kind of ownKinds) {
    let next: string | undefined;
    do {
      const query = { limit: 500, continue: next };
      const page = parseObjectList(await kubernetes.request({ method: "GET", path: collectionOf(kind), query, accept: metadataOnly }));
      const other = page.items.map(parseObject).find(({ metadata }) => !saved.has(metadata.uid));
      if (other !== undefined)
        throw new Conflict(
          `the cluster has ${kind.plural} that are not in the backup, such as ${other.metadata.name}: restore into a cluster without them`,
          { code: "not_empty" },
        );
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
    } while (next !== undefined);
  }
}

const atOnce = 8;

/**
 * Creates the objects of a backup that are missing, and writes their statuses. Owners come before what they own, because references name
 * the new uid of an owner: Kubernetes deletes an object whose owner does not exist. Safe to repeat. No operator may run.
 *
 * @param lines reads the saved lines from the start @returns the resources whose generation has changed
 */
export async function restoreResources(
  kubernetes: Kubernetes,
  lines: () => AsyncIterable<Uint8Array>,
): Promise<readonly MovedGeneration[]> {
  const restoring = new Restoring(kubernetes);
  let left = Number.POSITIVE_INFINITY;
  for (;;) {
    const waiting = await restoring.pass(lines(), false);
    if (waiting === 0) break;
    // Their owners are not in the backup.
    if (waiting === left) {
      await restoring.pass(lines(), true);
      break;
    }
    left = waiting;
  }
  return restoring.moved;
}

const keyOf = ({ kind, metadata }: SavedObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

class Restoring {
  readonly moved: MovedGeneration[] = [];
  readonly #kubernetes: Kubernetes;
  readonly #done = new Set<string>();
  /** New uids by saved ones. */
  readonly #uids = new Map<string, string>();

  constructor(kubernetes: Kubernetes) {
    this.#kubernetes = kubernetes;
  }

  /** Restores the objects whose owners are restored, or with `orphans` all others. @returns how many wait for their owners */
  async pass(lines: AsyncIterable<Uint8Array>, orphans: boolean): Promise<number> {
    let waiting = 0;
    const running: Promise<void>[] = [];
    let group = "";
    for await (const line of createLines(lines)) {
      const object = savedObject.parse(JSON.parse(line));
      if (this.#done.has(keyOf(object))) continue;
      // Namespaces are complete before what is in them.
      if (running.length === atOnce || object.kind !== group) await Promise.all(running.splice(0));
      group = object.kind;
      if (orphans || this.#ownersOf(object).every(({ uid }) => this.#uids.has(uid))) running.push(this.#restore(object));
      else waiting++;
    }
    await Promise.all(running);
    return waiting;
  }

  #ownersOf({ metadata }: SavedObject): NonNullable<SavedObject["metadata"]["ownerReferences"]> {
    return metadata.ownerReferences ?? [];
  }

  async #restore(saved: SavedObject): Promise<void> {
    const created = await this.#create(saved);
    this.#done.add(keyOf(saved));
    this.#uids.set(saved.metadata.uid, created.metadata.uid);
    const { generation, uid } = created.metadata;
    if (uid === saved.metadata.uid) return; // The saved object itself.
    const id = statusId.safeParse(saved.status).data?.id;
    if (id !== undefined && saved.metadata.generation !== generation)
      this.moved.push({ kind: saved.kind, id, saved: saved.metadata.generation, restored: generation });
    const path = pathOfObject(saved);
    if (saved.status !== undefined && saved.status !== null && saved.kind !== "Namespace")
      await this.#kubernetes.request({
        method: "PATCH",
        path: `${path}/status`,
        query: { fieldManager: "headwater" },
        contentType: "application/merge-patch+json",
        body: { status: ofGeneration(saved.status, saved.metadata.generation, generation) },
      });
    if (saved.metadata.deletionTimestamp !== undefined) await this.#delete(path);
  }

  async #create(saved: SavedObject): Promise<KubernetesObject> {
    const kind = kindOf(saved);
    if (kind === undefined) throw new Invariant(`the backup has an object of the unknown kind ${saved.kind}`);
    const { status: _status, metadata, ...rest } = saved;
    const { name, namespace, labels, annotations, finalizers } = metadata;
    const ownerReferences = this.#ownersOf(saved).flatMap((owner) => {
      const uid = this.#uids.get(owner.uid);
      return uid === undefined ? [] : [{ ...owner, uid }];
    });
    const body = {
      ...rest,
      metadata: { name, ...(namespace === "" ? {} : { namespace }), labels, annotations, finalizers, ownerReferences },
    };
    const query = { fieldManager: "headwater" };
    try {
      return parseObject(await this.#kubernetes.request({ method: "POST", path: collectionOf(kind, namespace), query, body }));
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      // Restored before a kill, or created by the chart. Secrets and ConfigMaps own nothing, and may not be read.
      if (kind.apiVersion === "v1") return parseObject({ metadata: { ...metadata, resourceVersion: "", creationTimestamp: "" } });
      return parseObject(await this.#kubernetes.request({ method: "GET", path: pathOfObject(saved) }));
    }
  }

  async #delete(path: string): Promise<void> {
    await this.#kubernetes.request({ method: "DELETE", path }).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}

function pathOfObject(saved: SavedObject): string {
  const kind = kindOf(saved);
  if (kind === undefined) throw new Invariant(`the backup has an object of the unknown kind ${saved.kind}`);
  return `${collectionOf(kind, saved.metadata.namespace)}${pathOf([saved.metadata.name])}`;
}

const statusId = z.object({ id: z.string() });

/** The status as if the restored generation had been observed wherever the saved one was. */
function ofGeneration(status: unknown, saved: number, restored: number): unknown {
  if (saved === restored) return status;
  return JSON.parse(JSON.stringify(status), (key, value: unknown) => {
    if (key !== "observedGeneration" && key !== "runningGeneration") return value;
    return value === saved ? restored : 0;
  });
}
