import { isIP } from "node:net";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import type { Egress } from "../operations/index.ts";

/** The threads that resolve names are few and shared by all isolates of a process, and a hostile name server takes its time. */
const names = new FairSemaphore({ permits: 6, permitsPerKey: 2, alone: { permits: 4, now: () => performance.now() } });

/** Lets an owner resolve a few names at a time; a name that waits when its run is over is not resolved any more. */
export function fairEgress(egress: Egress, user: { readonly owner: string }, isOver: () => boolean): Egress {
  const resolve = (host: string): ReturnType<Egress["lookup"]> => {
    if (isOver()) throw new Error("the run has ended");
    return egress.lookup(host);
  };
  return { lookup: (host) => (isIP(host) === 0 ? names.use(user.owner, () => resolve(host)) : egress.lookup(host)) };
}
