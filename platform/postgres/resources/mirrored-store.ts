import { resourceWithId } from "../../../crds/public-id.ts";
import { hasEnded, type Kind, type Resource } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { Unavailable } from "../../../domain/errors.ts";
import type { MirrorRows } from "../../../operator/mirror/rows.ts";
import type { ResourcePages } from "./resource-pages.ts";

export interface MirroredStoreParts {
  readonly cluster: ResourceStore;
  readonly mirror: Pick<MirrorRows, "write">;
  readonly pages: Pick<ResourcePages, "findById">;
  /** Called when the mirror could not be written. The change itself is made, and the operator will mirror it. */
  readonly onError: (error: unknown) => void;
}

/**
 * The cluster's store for processes that also read the mirror: writes appear in the next list, even without an operator. Reads use the
 * cluster; `findById` looks up the name in the mirror, since the cluster would search all resources.
 */
export function createMirroredStore({ cluster, mirror, pages, onError }: MirroredStoreParts): ResourceStore {
  const writeMirror = async (present: readonly Resource[], gone: readonly Resource[] = []): Promise<void> => {
    const ends = gone.map(({ kind, metadata: { namespace, name, uid, resourceVersion } }) => ({
      kind,
      namespace,
      name,
      uid,
      resourceVersion,
    }));
    await mirror.write(present, ends).catch(onError);
  };
  const mirrored = async <S, T>(write: Promise<Resource<S, T>>): Promise<Resource<S, T>> => {
    const written = await write;
    await (hasEnded(written) ? writeMirror([], [written]) : writeMirror([written]));
    return written;
  };
  return {
    get: (kind, namespace, name) => cluster.get(kind, namespace, name),
    find: (kind, namespace, name) => cluster.find(kind, namespace, name),
    async findById<S, T>(kind: Kind<S, T>, id: string) {
      const listed = await pages.findById(kind, id);
      if (listed === undefined) return cluster.findById(kind, id);
      const { namespace, name, uid } = listed.metadata;
      const found = await cluster.find(kind, namespace, name).catch((error: unknown) => {
        // If the cluster's API is down, the mirrored state is better than nothing; a write will fail.
        if (error instanceof Unavailable) return listed;
        throw error;
      });
      return found?.metadata.uid === uid && resourceWithId(id, [found]) !== undefined ? found : cluster.findById(kind, id);
    },
    list: (kind, options) => cluster.list(kind, options),
    watch: (kind, version, signal) => cluster.watch(kind, version, signal),
    create: (kind, resource) => mirrored(cluster.create(kind, resource)),
    update: (kind, resource) => mirrored(cluster.update(kind, resource)),
    updateStatus: (kind, resource) => mirrored(cluster.updateStatus(kind, resource)),
    async delete(kind, namespace, name) {
      const before = await cluster.find(kind, namespace, name);
      await cluster.delete(kind, namespace, name);
      const after = await cluster.find(kind, namespace, name);
      // Finalizers may keep it for a while, or another resource has the name by now.
      const isGone = before !== undefined && before.metadata.uid !== after?.metadata.uid;
      await writeMirror(after === undefined ? [] : [after], isGone ? [before] : []);
    },
  };
}
