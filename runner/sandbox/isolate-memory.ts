import type ivm from "isolated-vm";

/** Bytes an isolate holds now; enters it. */
export async function heapBytesOf(isolate: ivm.Isolate): Promise<number> {
  const heap = await isolate.getHeapStatistics();
  return heap.total_physical_size + heap.externally_allocated_size + heap.malloced_memory;
}

/** Has V8 collect all that an isolate does not need, and give its memory back. */
export type Collector = () => Promise<void>;

/** As V8 does when it is told that memory is low: it keeps no room for what might come. */
const thoroughly = { type: "major", flavor: "last-resort" };
const timeoutMs = 5_000;

/**
 * `gc` of a context, which `--expose-gc` puts there: the host's from now on. To be taken before any other code is in it, which then
 * finds `undefined` there: of the name V8 lets nobody dispose. Without the flag nothing is collected but when V8 thinks of it.
 */
export function takeCollector(context: ivm.Context): Collector {
  const take = `if (typeof gc !== "function") return; const taken = gc; gc = undefined; return taken;`;
  const gc: ivm.Reference<(how: object) => void> = context.evalClosureSync(take, [], { result: { reference: true }, timeout: timeoutMs });
  if (gc.typeof !== "function") return () => Promise.resolve();
  return async () => {
    await gc.apply(undefined, [thoroughly], { arguments: { copy: true }, timeout: timeoutMs });
  };
}
