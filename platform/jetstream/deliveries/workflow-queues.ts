import type { Workflows } from "../../../delivery/attempts/ports.ts";
import { streams, workflowSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";

const stream = streams.workflows;

/** Reads from the leader of the stream: a replica of it may not know the newest delivery of a queue yet. */
export const createWorkflowQueues = ({ publisher, manager }: Pick<Connection, "publisher" | "manager">): Workflows => ({
  store: async (workflow, delivery, messageId) => {
    await publisher.publish(workflowSubject(workflow), delivery, { messageId });
  },
  listQueued: async () => {
    const { state } = await manager.streams.info(stream, { subjects_filter: workflowSubject(">") });
    const prefix = workflowSubject("").length;
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix));
  },
  findNext: async (workflow, from) => {
    try {
      const query = { seq: from, next_by_subj: workflowSubject(workflow) };
      const message = await manager.streams.getMessage(stream, query);
      return message === null ? undefined : { sequence: message.seq, text: message.string() };
    } catch (error) {
      if (isMessageNotFound(error)) return undefined;
      throw error;
    }
  },
  removeUpTo: async (workflow, sequence) => {
    await manager.streams.purge(stream, { filter: workflowSubject(workflow), seq: sequence + 1 });
  },
});

/** Deletes the queue of a workflow. */
export async function endWorkflowQueue(connection: Connection, workflow: string): Promise<void> {
  await connection.manager.streams.purge(streams.workflows, { filter: workflowSubject(workflow) });
}
