import { OwnerSlots } from "../owner-slots.ts";
import type { OperationContext } from "./context.ts";
import { clearOpensslErrors } from "./openssl-errors.ts";

interface Slots {
  taken: number;
  readonly waiting: (() => void)[];
}

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
): Promise<Result> {
  const slots = slotsOf(context, name);
  if (slots.taken >= limit) {
    if (slots.waiting.length >= maxWaiting)
      throw Object.assign(new Error(`more than ${maxWaiting} calls of ${name} are waiting`), {
        code: "limit_exceeded",
      });
    // The one that ends hands its slot over, so `taken` stays as it is.
    await new Promise<void>((resolve) => slots.waiting.push(resolve));
  } else slots.taken += 1;
  try {
    context.signal.throwIfAborted();
    return await task();
  } finally {
    const next = slots.waiting.shift();
    if (next === undefined) slots.taken -= 1;
    else next();
  }
}

/**
 * Threads that compute for components: half of the process's pool (`child-process.ts`). Names are resolved and files are read by the
 * others, and nothing that was begun there can be stopped, so no owner has all of them.
 */
const pool = new OwnerSlots({ slots: 6, ofOwner: 2, alone: 4 });

/** The same for what a thread of the pool computes: the isolates of one owner share his places. What waits when its run ends is not begun. */
export function withThread<Result>(context: OperationContext, name: string, limit: number, task: () => Promise<Result>): Promise<Result> {
  return withSlot(context, name, limit, async () => {
    const { owner } = context;
    await pool.take(owner);
    try {
      context.signal.throwIfAborted();
      const result = task();
      clearOpensslErrors(); // Before another job of the pool ends.
      return await result;
    } finally {
      clearOpensslErrors();
      pool.release(owner);
    }
  });
}

function slotsOf(context: OperationContext, name: string): Slots {
  const key = `slots:${name}`;
  const known = context.state.get(key);
  if (known !== undefined) return known as Slots; // only written below
  const slots: Slots = { taken: 0, waiting: [] };
  context.state.set(key, slots);
  return slots;
}
