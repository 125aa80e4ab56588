import { z } from "zod";
import { savedStreams } from "../../platform/jetstream/streams/backup.ts";
import { savedTables } from "../../platform/postgres/backup.ts";

/** What restoring needs besides the files. */
export const backupFacts = z.object({
  streams: savedStreams,
  cut: z.object({ commits: z.int(), invocations: z.int() }),
  tables: savedTables,
  /** In a cluster resources are objects of Kubernetes, else rows. */
  hasResources: z.boolean(),
});
export type BackupFacts = z.infer<typeof backupFacts>;

/** Names of the files. */
export const resourcesFile = "resources";
export const streamFile = (stream: string): string => `stream-${stream}`;
export const tableFile = (table: string): string => `table-${table}`;
