import type { Workflows } from "../../../delivery/attempts/ports.ts";
import { streams, workflowSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

export const createWorkflowQueues = ({ publisher }: Pick<Connection, "publisher">): Workflows => ({
  store: async (workflow, delivery, messageId) => {
    await publisher.publish(workflowSubject(workflow), delivery, { messageId });
  },
});

/** Deletes the queue of a workflow. */
export async function endWorkflowQueue(connection: Connection, workflow: string): Promise<void> {
  await connection.manager.streams.purge(streams.workflows, { filter: workflowSubject(workflow) });
}
