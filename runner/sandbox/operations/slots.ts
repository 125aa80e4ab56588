import type { OperationContext } from "./context.ts";

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
    return await task();
  } finally {
    const next = slots.waiting.shift();
    if (next === undefined) slots.taken -= 1;
    else next();
  }
}

function slotsOf(context: OperationContext, name: string): Slots {
  const key = `slots:${name}`;
  const known = context.state.get(key);
  if (known !== undefined) return known as Slots; // only written below
  const slots: Slots = { taken: 0, waiting: [] };
  context.state.set(key, slots);
  return slots;
}
