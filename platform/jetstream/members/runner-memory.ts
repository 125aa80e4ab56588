import type { RunnerMemory } from "../../../operator/runner-pool/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { liveRunners } from "./group.ts";

/** A heartbeat older than this is of a runner that is gone. */
const staleMs = 5_000;

/** What live runners tell of their memory with each heartbeat. */
export async function followRunnerMemory(connection: Connection): Promise<RunnerMemory & Stoppable> {
  const told = new Map<string, { readonly share: number; readonly at: number }>();
  const reading = await liveRunners(connection).watch({
    initial: true,
    onEntry: (key, heartbeat) => {
      if (heartbeat?.memoryShare === undefined) told.delete(key);
      else told.set(key, { share: heartbeat.memoryShare, at: performance.now() });
    },
  });
  return {
    stop: () => reading.stop(),
    shareOf: (pool) => {
      const oldest = performance.now() - staleMs;
      const shares = [...told].filter(([key, { at }]) => key.startsWith(`${pool}.`) && at >= oldest).map(([, { share }]) => share);
      return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
  };
}
