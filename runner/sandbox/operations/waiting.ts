import { integerArgument, textArgument } from "./arguments.ts";
import type { AsyncOperation, OperationContext, SyncOperation } from "./context.ts";

/** An asynchronous operation that a guest's thread waits for. */
interface Wait {
  /** Returns the result, or throws the error of the operation. */
  result?: () => unknown;
}

const maxWaits = 4;

/**
 * `wait_begin(operation, args)` → id; `wait_poll(id)` → undefined while it runs, then `[value]`. The guest's thread sleeps between two
 * polls. So the thread pool computes what Node would compute synchronously, and the host's thread serves other isolates.
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
      if (wait === undefined) throw new Error("no operation with this number is in progress");
      if (wait.result === undefined) return undefined;
      waits.delete(id);
      return [wait.result()];
    },
  };
}

function begin(context: OperationContext, operation: AsyncOperation, args: readonly unknown[]): number {
  const waits = waitsOf(context);
  // A guest's thread waits for one operation at a time.
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

/** By run, because each run has its own operation context. */
const waitsByRun = new WeakMap<OperationContext, Map<number, Wait>>();

function waitsOf(context: OperationContext): Map<number, Wait> {
  const waits = waitsByRun.get(context) ?? new Map<number, Wait>();
  waitsByRun.set(context, waits);
  return waits;
}
