import type { Replicas } from "../../../delivery/routing/ports.ts";
import type { Connection } from "../connection/connection.ts";
import { deliveryReplicas, heldByOthers, joinGroup } from "./group.ts";

/** The replicas of the delivery role, of which this process is one. */
export function createReplicas(connection: Connection, replica: string): Replicas {
  let isCurrent: (() => boolean) | undefined;
  return {
    replica,
    join: async ({ onMembers, holds, onLapse }) => {
      const joined = await joinGroup(connection, deliveryReplicas, replica, {
        onMembers,
        onLapse,
        report: () => Promise.resolve({ holds: holds() }),
      });
      isCurrent = joined.isCurrent;
      return joined;
    },
    heldByOthers: () => heldByOthers(connection, deliveryReplicas, replica),
    isCurrent: () => isCurrent?.() ?? false,
  };
}
