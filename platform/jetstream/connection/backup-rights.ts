import { buckets, streams } from "../../../domain/subjects.ts";
import { reading, type Rights } from "./permissions.ts";

/** A subject of INVOCATIONS that no consumer reads. A restore publishes on it to raise the last sequence. */
export const restoredFiller = "timer.restored";

const { deployments, floors, runs, state, invocations, versions } = { ...buckets, ...streams };

const requests: readonly string[] = [
  "INFO",
  "STREAM.LIST",
  "STREAM.INFO.*",
  "STREAM.SNAPSHOT.*",
  "STREAM.RESTORE.*",
  // Finds the cut, and ends the restored streams there.
  `STREAM.MSG.GET.${runs}`,
  `STREAM.MSG.GET.${state}`,
  `STREAM.MSG.DELETE.${runs}`,
  `STREAM.PURGE.${invocations}`,
  `DIRECT.GET.KV_${floors}.$KV.${floors}.*`,
];

/** Saves and restores all streams. In our own account the administrator restores. */
export const backupRights: Rights = {
  publish: [
    ...requests.map((request) => `$JS.API.${request}`),
    // Requests the next chunk of a saved stream, and sends the chunks of a restored one.
    "$JS.SNAPSHOT.ACK.*.*",
    "$JS.SNAPSHOT.RESTORE.*.*",
    restoredFiller,
    // Entries of sources name the generations of their resources, which a restore changes.
    ...[deployments, versions].flatMap((bucket) => [...reading(`KV_${bucket}`), `$KV.${bucket}.>`]),
  ],
  subscribe: [],
};
