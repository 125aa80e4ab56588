import { isIP } from "node:net";
import { EntrySlots } from "./entry-slots.ts";
import type { Egress } from "./operations/index.ts";

/** The threads that resolve names are few and shared by all isolates of a process, and a hostile name server takes its time. */
const concurrentNames = 2;

/** Lets one isolate resolve a few names at a time; what still waits when its run is over is not asked any more. */
export function fairEgress(egress: Egress, isOver: () => boolean): Egress {
  const slots = new EntrySlots(concurrentNames);
  return {
    lookup: async (host) => {
      if (isIP(host) !== 0) return await egress.lookup(host);
      await slots.take();
      try {
        if (isOver()) throw new Error("the run has ended");
        return await egress.lookup(host);
      } finally {
        slots.release();
      }
    },
  };
}
