import type { BundleStore } from "../../../builder/ports.ts";
import type { Connection } from "../connection/connection.ts";
import { openBlobStore } from "./object-store.ts";
import { chargeOwner } from "./owner-bytes.ts";

/** The store as the builder uses it: each owner has a share, see `domain/limits/stream-share.ts`. */
export function openBundleStore(connection: Connection): BundleStore {
  const blobs = openBlobStore(connection);
  return {
    keep: (hash) => blobs.renew(hash),
    store: async ({ hash, text, map }, owner) => {
      if (await blobs.renew(hash)) return;
      // One owner without a name: callers that have none, such as benchmarks.
      if (owner !== "") await chargeOwner(connection, owner, text.length + map.length);
      // The source map first, so that a runner that has the bundle always finds the map.
      const of = owner === "" ? undefined : owner;
      await blobs.put(`${hash}.map`, map, of);
      await blobs.put(hash, text, of);
    },
  };
}
