import { streams, workflowSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/** Forgets what a workflow has heard. */
export async function endWorkflowQueue(connection: Connection, workflow: string): Promise<void> {
  await connection.manager.streams.purge(streams.workflows, { filter: workflowSubject(workflow) });
}
