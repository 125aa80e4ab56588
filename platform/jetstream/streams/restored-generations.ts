import { buckets } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";

/** A resource whose generation has changed with its restore. */
interface MovedGeneration {
  readonly kind: string;
  /** Public id. */
  readonly id: string;
  readonly saved: number;
  readonly restored: number;
}

interface Generations {
  readonly generation?: number;
  readonly sourceGeneration?: number;
  readonly deployment?: Generations;
}

/** Entries of sources name the generation of their resource: with the restored one, the operator deploys none of them again. */
export async function alignGenerations(connection: Connection, moved: readonly MovedGeneration[]): Promise<void> {
  const byId = new Map(moved.filter(({ kind }) => kind === "Source").map((each) => [each.id, each]));
  if (byId.size === 0) return;
  for (const name of [buckets.deployments, buckets.versions]) {
    const bucket = new Bucket<Generations>(connection, name, (json) => json as Generations); // Only its numbers are changed.
    for (const [key, entry] of await bucket.list(">")) {
      const aligned = align(entry, byId.get(key.slice(key.lastIndexOf(".") + 1)));
      if (aligned !== entry) await bucket.put(key, aligned);
    }
  }
}

function align(entry: Generations, moved: MovedGeneration | undefined): Generations {
  if (moved === undefined) return entry;
  const { deployment } = entry;
  if (deployment !== undefined) {
    const aligned = align(deployment, moved);
    return aligned === deployment ? entry : { ...entry, deployment: aligned };
  }
  return (entry.sourceGeneration ?? entry.generation) === moved.saved ? { ...entry, sourceGeneration: moved.restored } : entry;
}
