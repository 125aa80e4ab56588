import { labels, type Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { idOfResourceName } from "../../domain/ids.ts";

/** What an operation changes, as far as its access check and its writes have shown. */
export class Subject {
  /** Of the declared kind, such as Source. */
  readonly kind: string;
  owner: string | undefined;
  id: string | undefined;
  name: string | undefined;
  /** Whether a resource was written. */
  hasChanged = false;
  /** Whether the entry was stored together with the change. */
  isRecorded = false;

  constructor(kind: string) {
    this.kind = kind;
  }

  readonly noteOwner = (owner: string): void => {
    this.owner ??= owner;
  };

  /** Only the first resource of the kind: an operation may write others with it. */
  noteResource(kind: string, { metadata, spec }: Pick<Resource, "metadata" | "spec">): void {
    if (kind !== this.kind) return;
    this.id ??= metadata.labels[labels.id] ?? idOfResourceName(metadata.name);
    this.name ??= nameOf(spec) ?? metadata.name;
  }
}

/** Notes what is written through the store. */
export function notingStore(store: ResourceStore, subject: Subject): ResourceStore {
  return {
    get: (kind, namespace, name) => store.get(kind, namespace, name),
    find: (kind, namespace, name) => store.find(kind, namespace, name),
    findById: (kind, id) => store.findById(kind, id),
    list: (kind, options) => store.list(kind, options),
    watch: (kind, version, signal) => store.watch(kind, version, signal),
    updateStatus: (kind, resource) => store.updateStatus(kind, resource),
    async create(kind, resource) {
      const created = await store.create(kind, resource);
      subject.hasChanged = true;
      subject.noteResource(kind.kind, created);
      return created;
    },
    async update(kind, resource) {
      const updated = await store.update(kind, resource);
      subject.hasChanged = true;
      subject.noteResource(kind.kind, updated);
      return updated;
    },
    async delete(kind, namespace, name) {
      await store.delete(kind, namespace, name);
      subject.hasChanged = true;
      if (kind.kind === subject.kind) subject.id ??= idOfResourceName(name);
    },
  };
}

function nameOf(spec: unknown): string | undefined {
  const name = typeof spec === "object" && spec !== null && "name" in spec ? spec.name : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}
