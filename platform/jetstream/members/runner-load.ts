import type { RunnerLoad } from "../../../operator/runner-pool/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { liveRunners, type Heartbeat } from "./group.ts";

/** The runner of an older heartbeat has stopped. */
const staleMs = 5_000;

/** Follows the use of memory and CPU that live runners report with each heartbeat. */
export async function followRunnerLoad(connection: Connection): Promise<RunnerLoad & Stoppable> {
  const reports = new Map<string, { readonly heartbeat: Heartbeat; readonly at: number }>();
  const reading = await liveRunners(connection).watch({
    initial: true,
    onEntry: (key, heartbeat) => {
      if (heartbeat === undefined) reports.delete(key);
      else reports.set(key, { heartbeat, at: performance.now() });
    },
  });
  return {
    stop: () => reading.stop(),
    of: (pool) => {
      const oldest = performance.now() - staleMs;
      const live = [...reports].filter(([key, { at }]) => key.startsWith(`${pool}.`) && at >= oldest).map(([, { heartbeat }]) => heartbeat);
      return {
        reporting: live.length,
        memoryShare: mean(live.map(({ memoryShare }) => memoryShare)),
        cpuShare: mean(live.map(({ cpuShare }) => cpuShare)),
      };
    },
  };
}

/** Mean of those that are known; undefined if none is. */
function mean(shares: readonly (number | undefined)[]): number | undefined {
  const known = shares.filter((share) => share !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, share) => sum + share, 0) / known.length;
}
