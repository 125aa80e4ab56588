import { chargeOf, type RunOfFiles } from "../../../domain/files/run-files.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { parseJsonOrNull } from "../../../domain/json.ts";
import { historyOfRun } from "../../../domain/invocation/run-id.ts";
import type { WorkflowCommit } from "../../../domain/run/commit.ts";
import { filesOfRun, partsOfFilePart, streams } from "../../../domain/subjects.ts";
import { isEndMarker } from "../../../domain/workflow/run-commit.ts";
import { hasEnded } from "../../../domain/workflow/run-state.ts";
import type { RunWithFiles, StoredFiles } from "../../../operator/stored-ports.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { lastCommit } from "../runs/commits.ts";

/** The stream FILES, as the operator's sweep sees it. */
export function createStoredFiles(connection: Connection): StoredFiles {
  const { streams: stored } = connection.manager;
  const filterOf = ({ owner, workflow, run }: RunOfFiles): string => filesOfRun(owner, workflow, run);
  return {
    list: async () => {
      const { state, config } = await stored.info(streams.files, { subjects_filter: "files.>" });
      const runs = new Map<string, RunWithFiles>();
      for (const subject of Object.keys(state.subjects ?? {})) {
        const { owner, workflow, run, bytes } = partsOfFilePart(subject);
        const key = `${owner} ${workflow} ${run}`;
        runs.set(key, { owner, workflow, run, bytes: (runs.get(key)?.bytes ?? 0) + chargeOf(bytes) });
      }
      return { runs: [...runs.values()], bytes: state.bytes, maxBytes: config.max_bytes };
    },
    lastStoredAt: async (run) => {
      try {
        return (await stored.getMessage(streams.files, { last_by_subj: filterOf(run) }))?.time.getTime();
      } catch (error) {
        if (isMessageNotFound(error)) return undefined;
        throw error;
      }
    },
    isNeeded: async ({ owner, workflow, run }) => {
      const { text } = await lastCommit(connection, { owner, source: historyOfRun(workflow, run), partition: partitionOf(workflow) });
      if (text === undefined || isEndMarker(text)) return false;
      // A runner wrote it, which executes user code. Its owner alone depends on the files.
      const status = (parseJsonOrNull(text) as WorkflowCommit | null)?.state?.status;
      return status !== undefined && !hasEnded(status);
    },
    forget: async (run) => {
      await stored.purge(streams.files, { filter: filterOf(run) });
    },
  };
}
