import type { RunnerMemory } from "../../../operator/runner-pool/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { liveRunners } from "./group.ts";

/** The runner of an older heartbeat has stopped. */
const staleMs = 5_000;

/** Follows the memory use that live runners report with each heartbeat. */
export async function followRunnerMemory(connection: Connection): Promise<RunnerMemory & Stoppable> {
  const reports = new Map<string, { readonly share: number; readonly at: number }>();
  const reading = await liveRunners(connection).watch({
    initial: true,
    onEntry: (key, heartbeat) => {
      if (heartbeat?.memoryShare === undefined) reports.delete(key);
      else reports.set(key, { share: heartbeat.memoryShare, at: performance.now() });
    },
  });
  return {
    stop: () => reading.stop(),
    shareOf: (pool) => {
      const oldest = performance.now() - staleMs;
      const shares = [...reports].filter(([key, { at }]) => key.startsWith(`${pool}.`) && at >= oldest).map(([, { share }]) => share);
      return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
    },
  };
}
