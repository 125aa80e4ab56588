import { integerArgument, textArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext, SyncOperation } from "./context.ts";

/** An asynchronous operation for whose end a guest's thread waits. */
interface Wait {
  /** Throws what the operation threw. */
  result?: () => unknown;
}

const maxWaits = 4;

/**
 * `wait_begin(operation, args)` → id; `wait_poll(id)` → undefined while it runs, then `[value]`. The guest's thread sleeps between two
 * polls. So what Node computes on its own thread is computed by the thread pool, and the host's thread serves other isolates.
 */
export function waitOperations(operations: Readonly<Record<string, AsyncOperation>>): Record<string, SyncOperation> {
  return {
    wait_begin: (context, [name, args]) => {
      const operation = operations[textArgument(name, "operation", 64)];
      if (operation === undefined) throw new Error("the sandbox has no such operation to wait for");
      return begin(context, operation, Array.isArray(args) ? args : []);
    },
    wait_poll: (context, [given]) => {
      const id = integerArgument(given, "id", 1, Number.MAX_SAFE_INTEGER);
      const waits = waitsOf(context);
      const wait = waits.get(id);
      if (wait === undefined) throw new Error("nothing of this number is under way");
      if (wait.result === undefined) return undefined;
      waits.delete(id);
      return [wait.result()];
    },
  };
}

function begin(context: OperationContext, operation: AsyncOperation, args: readonly unknown[]): number {
  const waits = waitsOf(context);
  // A guest's thread waits for one at a time.
  if (waits.size >= maxWaits) throw Object.assign(new Error(`more than ${maxWaits} operations are waited for`), { code: "limit_exceeded" });
  const id = Math.max(0, ...waits.keys()) + 1;
  const wait: Wait = {};
  waits.set(id, wait);
  operation(context, args).then(
    (value) => {
      wait.result = () => value;
    },
    (error: unknown) => {
      wait.result = () => {
        throw error;
      };
    },
  );
  return id;
}

/** By run: each has a context of its own, and what it waited for is forgotten with it. */
const waitsByRun = new WeakMap<OperationContext, Map<number, Wait>>();

function waitsOf(context: OperationContext): Map<number, Wait> {
  const waits = waitsByRun.get(context) ?? new Map<number, Wait>();
  waitsByRun.set(context, waits);
  return waits;
}
