import { AdmissionGate, type BacklogLimits } from "../../../domain/limits/admission.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { liveRunners } from "./group.ts";

export interface FollowedAdmission extends Stoppable {
  readonly gate: AdmissionGate;
}

/** An admission gate that follows the reports of live runners about their backlogs. */
export async function followAdmission(connection: Connection, limits: BacklogLimits): Promise<FollowedAdmission> {
  const gate = new AdmissionGate(limits);
  const reading = await liveRunners(connection).watch({
    initial: true,
    onEntry: (key, heartbeat) => {
      const [pool = "", runner = ""] = key.split(".");
      gate.update(pool, runner, heartbeat?.backlog, performance.now());
    },
  });
  return { gate, stop: () => reading.stop() };
}
