import { z } from "zod";
import { Conflict, Invariant, NotFound } from "../../../domain/errors.ts";
import { madeFor, madeForGeneration, ownPrefix, ownFieldManager } from "../../../crds/resource.ts";
import type { Kubernetes } from "../access/connection.ts";
import { parseObject, type KubernetesObject } from "../object.ts";
import { pathOf } from "../paths.ts";
import { createLines } from "../resources/lines.ts";
import { pagesOf } from "../resources/pages.ts";
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
  const saved = await uidsOf(lines);
  for (const kind of ownKinds) {
    for await (const { items } of pagesOf(kubernetes, { path: collectionOf(kind), accept: metadataOnly })) {
      const other = items.map(parseObject).find(({ metadata }) => !saved.has(metadata.uid));
      if (other !== undefined)
        throw new Conflict(
          `the cluster has ${kind.plural} that are not in the backup, such as ${other.metadata.name}: restore into a cluster without them`,
          { code: "not_empty" },
        );
    }
  }
}

const atOnce = 8;

/**
 * Creates the objects of a backup that are missing, and writes their statuses. The API server gives each a new uid. So an object is created
 * after all those whose uid it refers to, with their new uids: Kubernetes deletes an object whose owner does not exist, and the operator
 * takes a component that names another uid for one of another source. Safe to repeat. No operator may run.
 *
 * @param lines reads the saved lines from the start @returns the resources whose generation has changed
 */
export async function restoreResources(
  kubernetes: Kubernetes,
  lines: () => AsyncIterable<Uint8Array>,
): Promise<readonly MovedGeneration[]> {
  const restoring = new ResourceRestore(kubernetes, await uidsOf(lines()));
  for (let left = Number.POSITIVE_INFINITY; left > 0;) {
    const waiting = await restoring.pass(lines());
    if (waiting === left) throw new Invariant(`${waiting} resources of the backup refer to each other in a circle`);
    left = waiting;
  }
  return restoring.moved;
}

async function uidsOf(lines: AsyncIterable<Uint8Array>): Promise<ReadonlySet<string>> {
  const uids = new Set<string>();
  for await (const line of createLines(lines)) uids.add(savedObject.parse(JSON.parse(line)).metadata.uid);
  return uids;
}

interface Restored {
  readonly uid: string;
  readonly savedGeneration: number;
  readonly generation: number;
}

const uidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const isOwn = (name: string): boolean => name.startsWith(ownPrefix);

/** While the next line is read, a failure waits for `Promise.all`: without a handler it would end the process. */
function handled(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

class ResourceRestore {
  readonly moved: MovedGeneration[] = [];
  readonly #kubernetes: Kubernetes;
  /** Of all objects in the backup. */
  readonly #savedUids: ReadonlySet<string>;
  /** By saved uid. */
  readonly #restored = new Map<string, Restored>();

  constructor(kubernetes: Kubernetes, savedUids: ReadonlySet<string>) {
    this.#kubernetes = kubernetes;
    this.#savedUids = savedUids;
  }

  /** Restores the objects that refer to restored ones only. @returns how many are left */
  async pass(lines: AsyncIterable<Uint8Array>): Promise<number> {
    let waiting = 0;
    const running: Promise<void>[] = [];
    let group = "";
    for await (const line of createLines(lines)) {
      const object = savedObject.parse(JSON.parse(line));
      if (this.#restored.has(object.metadata.uid)) continue;
      // Namespaces are complete before what is in them.
      if (running.length === atOnce || object.kind !== group) await Promise.all(running.splice(0));
      group = object.kind;
      if (this.#referencesOf(object).every((uid) => this.#restored.has(uid))) running.push(handled(this.#restore(object)));
      else waiting++;
    }
    await Promise.all(running);
    return waiting;
  }

  /** Uids of other objects in the backup. An AutoSubscription that was deleted leaves its uid behind. */
  #referencesOf({ metadata }: SavedObject): readonly string[] {
    const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
    const values = [metadata.labels, metadata.annotations].flatMap((entries) =>
      Object.entries(entries).flatMap(([name, value]) => (isOwn(name) ? [value] : [])),
    );
    return [...owners, ...values.flatMap((value) => value.match(uidPattern) ?? [])].filter((uid) => this.#savedUids.has(uid));
  }

  /** Labels or annotations with the new uids, and the new generation of the resource that a component was made for. */
  #translated(entries: Readonly<Record<string, string>>, maker: Restored | undefined): Readonly<Record<string, string>> {
    const translate = ([name, value]: readonly [string, string]): readonly [string, string] => {
      if (!isOwn(name)) return [name, value];
      if (name === madeForGeneration && maker !== undefined)
        return [name, String(Number(value) === maker.savedGeneration ? maker.generation : 0)];
      return [name, value.replaceAll(uidPattern, (uid) => this.#restored.get(uid)?.uid ?? uid)];
    };
    return Object.fromEntries(Object.entries(entries).map(translate));
  }

  async #restore(saved: SavedObject): Promise<void> {
    const created = await this.#create(saved);
    const { generation, uid } = created.metadata;
    this.#restored.set(saved.metadata.uid, { uid, savedGeneration: saved.metadata.generation, generation });
    if (uid === saved.metadata.uid) return; // The saved object itself.
    const id = statusId.safeParse(saved.status).data?.id;
    if (id !== undefined && saved.metadata.generation !== generation)
      this.moved.push({ kind: saved.kind, id, saved: saved.metadata.generation, restored: generation });
    const path = pathOfObject(saved);
    if (saved.status !== undefined && saved.status !== null && saved.kind !== "Namespace")
      await this.#kubernetes.request({
        method: "PATCH",
        path: `${path}/status`,
        query: { fieldManager: ownFieldManager },
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
    const ownerReferences = (metadata.ownerReferences ?? []).flatMap((owner) => {
      const uid = this.#restored.get(owner.uid)?.uid;
      return uid === undefined ? [] : [{ ...owner, uid }];
    });
    const maker = this.#restored.get(labels[madeFor] ?? "");
    const translated = { labels: this.#translated(labels, maker), annotations: this.#translated(annotations, maker) };
    const body = { ...rest, metadata: { name, ...(namespace === "" ? {} : { namespace }), ...translated, finalizers, ownerReferences } };
    const query = { fieldManager: ownFieldManager };
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
