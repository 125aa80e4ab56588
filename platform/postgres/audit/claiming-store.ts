import { sql } from "kysely";
import { deletionId, unattributedChangeId } from "../../../crds/change.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { ownFieldManager, type Resource } from "../../../crds/resource.ts";
import type { Database } from "../connection.ts";

interface Options {
  /** Called when a claim could not be stored: the audit log then shows the change as one by another client. */
  readonly onError: (error: unknown) => void;
}

/** The cluster's store, which claims the writes that managedFields do not attribute to Headwater. */
export function createClaimingStore(cluster: ResourceStore, { db }: Pick<Database, "db">, { onError }: Options): ResourceStore {
  const claim = async (change: string): Promise<void> => {
    await sql`insert into change_claims (change, at_ms) values (${change}, extract(epoch from now()) * 1000) on conflict do nothing`
      .execute(db)
      .catch(onError);
  };
  return {
    ...cluster,
    async update(kind, resource) {
      const written = await cluster.update(kind, resource);
      const isSpecWritten = written.metadata.generation !== resource.metadata.generation;
      if (isSpecWritten && ownWriteAt(written) === ownWriteAt(resource)) await claim(unattributedChangeId(written.metadata));
      return written;
    },
    async delete(kind, namespace, name) {
      const found = await cluster.find(kind, namespace, name);
      await cluster.delete(kind, namespace, name);
      // If another client has deleted it before, with finalizers left, the deletion is theirs.
      if (found !== undefined && found.metadata.deletionTimestamp === undefined) await claim(deletionId(found.metadata));
    },
  };
}

const ownWriteAt = ({ metadata }: Resource): number | undefined => metadata.writers?.find(({ manager }) => manager === ownFieldManager)?.at;
