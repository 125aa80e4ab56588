import { isIP } from "node:net";
import type { Egress } from "./operations/index.ts";
import { OwnerSlots } from "./owner-slots.ts";

/** The threads that resolve names are few and shared by all isolates of a process, and a hostile name server takes its time. */
const names = new OwnerSlots({ slots: 6, ofOwner: 2, alone: 4 });

/** Lets an owner resolve a few names at a time; what still waits when its run is over is not asked any more. */
export function fairEgress(egress: Egress, user: { readonly owner: string }, isOver: () => boolean): Egress {
  return {
    lookup: async (host) => {
      if (isIP(host) !== 0) return await egress.lookup(host);
      const { owner } = user;
      await names.take(owner);
      try {
        if (isOver()) throw new Error("the run has ended");
        return await egress.lookup(host);
      } finally {
        names.release(owner);
      }
    },
  };
}
