import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import type { OperationContext } from "./context.ts";
import { clearOpensslErrors } from "./crypto/openssl-errors.ts";

const maxWaiting = 2000;

/**
 * Runs a task when fewer than `limit` of the same name run for this isolate; the others wait in order. Waiting rather than
 * refusing, because `Promise.all` over two hundred addresses is what people write.
 */
export async function withSlot<Result>(
  context: OperationContext,
  name: string,
  limit: number,
  task: () => Promise<Result>,
  signal = context.signal,
): Promise<Result> {
  const slots = slotsOf(context, name, limit);
  if (slots.waitingFor(name) >= maxWaiting)
    throw Object.assign(new Error(`more than ${maxWaiting} calls of ${name} are waiting`), {
      code: "limit_exceeded",
    });
  return slots.use(
    name,
    () => {
      signal.throwIfAborted();
      return task();
    },
    signal,
  );
}

/**
 * Threads that compute for components: half of the process's pool (`child-process.ts`). Names are resolved and files are read by the
 * others, and nothing that was begun there can be stopped, so no owner has all of them.
 */
const pool = new FairSemaphore({ permits: 6, permitsPerKey: 2, alone: { permits: 4, now: () => performance.now() } });

/** The same for what a thread of the pool computes: the isolates of one owner share its threads. What waits when its run ends is not begun. */
export function withThread<Result>(context: OperationContext, name: string, limit: number, task: () => Promise<Result>): Promise<Result> {
  return withSlot(context, name, limit, () =>
    pool.use(context.owner, async () => {
      context.signal.throwIfAborted();
      try {
        const result = task();
        clearOpensslErrors(); // Before another job of the pool ends.
        return await result;
      } finally {
        clearOpensslErrors();
      }
    }),
  );
}

function slotsOf(context: OperationContext, name: string, limit: number): FairSemaphore {
  const key = `slots:${name}`;
  const known = context.state.get(key);
  if (known !== undefined) return known as FairSemaphore; // only written below
  const slots = new FairSemaphore({ permitsPerKey: limit });
  context.state.set(key, slots);
  return slots;
}
