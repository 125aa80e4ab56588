import { isVariablesEntry, type VariablesEntry } from "../../../domain/variable/variable.ts";
import { hasMoved, type DeploymentEntry } from "../../../domain/source/deployment.ts";
import { isWorkflow, type WorkflowEntry } from "../../../domain/workflow/deployment.ts";
import { buckets, partsOfRun, streams } from "../../../domain/subjects.ts";
import type { HistoryReference } from "../../../operator/ports.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";

/** Sources and workflows whose last commits STATE has, by owner. */
export async function listHistories({ manager }: Connection): Promise<readonly HistoryReference[]> {
  const { state } = await manager.streams.info(streams.state, { subjects_filter: "runs.>" });
  const found = new Map<string, HistoryReference>();
  for (const subject of Object.keys(state.subjects ?? {})) {
    const { owner, source } = partsOfRun(subject);
    found.set(`${owner} ${source}`, { owner, source });
  }
  return [...found.values()];
}

/** Ids of the sources and workflows that are deployed, also of workflows of which only an earlier version is left. */
export async function deployedIds(connection: Connection): Promise<readonly string[]> {
  const entries = new Bucket(connection, buckets.deployments, (json) => idOf(json as DeploymentEntry | WorkflowEntry | VariablesEntry)); // Only the operator writes it.
  return [...new Set((await entries.list(">")).values())].filter((id) => id !== undefined);
}

function idOf(entry: DeploymentEntry | WorkflowEntry | VariablesEntry): string | undefined {
  if (isVariablesEntry(entry)) return undefined;
  if (hasMoved(entry)) return undefined; // Its source has an entry in another pool.
  return isWorkflow(entry) ? entry.workflow : entry.source;
}
