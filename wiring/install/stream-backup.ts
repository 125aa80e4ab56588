import { restoreStreams, saveStreams } from "../../platform/jetstream/streams/backup.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { waitForJetStream } from "../../platform/jetstream/connection/wait-for-jetstream.ts";
import type { RoleContext } from "../context.ts";

const timeoutMs = 60_000;

/**
 * Saves the streams of NATS into a directory, or restores them from there, with the number of replicas that is configured. No role may run.
 *
 * @returns what to do next @throws InvalidInput, Unavailable
 */
export async function backUpStreams(context: RoleContext, action: "save" | "restore", directory: string): Promise<string> {
  const connection = await connect({ server: context.nats, name: `headwater ${action} streams`, requestTimeoutMs: timeoutMs });
  try {
    await waitForJetStream(connection, timeoutMs);
    if (action === "save") return `${(await saveStreams(connection, directory)).length} streams are saved in ${directory}.`;
    const restored = await restoreStreams(connection, directory, { replicas: context.configuration.natsReplicas });
    return `${restored.length} streams are restored from ${directory}. Run --setup now, then start the roles.`;
  } finally {
    await connection.close();
  }
}
