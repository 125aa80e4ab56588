import type { RunError } from "../../domain/invocation.ts";
import type { Ending } from "./activity.ts";
import { readBundle } from "./bundle-cache.ts";
import { readDefinition } from "./definition.ts";
import { type ExecutionRoom, watched } from "./execute.ts";
import type { Inspection, InspectRequest } from "./port.ts";
import { ProductCollector } from "./products.ts";
import { bundlePosition } from "./run-error.ts";

const memoryMb = 256;

/** Evaluates a bundle in an isolate of its own and reads the component's definition. */
export async function inspect({ bundle, owner = "", timeoutMs }: InspectRequest, room: ExecutionRoom): Promise<Inspection> {
  const code = await readBundle(bundle);
  const guest = await room.nursery.take({ needsNode: bundle.needsNode, memoryMb });
  guest.owner = owner;
  try {
    const loaded = await watched(guest, room, () => guest.load(code, undefined, {}, timeoutMs, new ProductCollector()));
    if (loaded.outcome !== "done") return rejection(loaded.error);
    const described: Ending = await watched(guest, room, () => guest.perform("describe", [], timeoutMs, new ProductCollector()));
    return described.outcome === "done" ? readDefinition(described.value) : rejection(described.error);
  } finally {
    guest.dispose();
  }
}

function rejection(error: RunError): Inspection {
  const position = bundlePosition(error.stack) ?? bundlePosition(error.message);
  const timedOut = error.code === "evaluation_timeout" || error.code === "cpu_limit";
  return {
    outcome: "rejected",
    code: timedOut ? "evaluation_timeout" : error.code === undefined || error.code === "run_timeout" ? "evaluation_error" : error.code,
    message: error.code === undefined ? `${error.name}: ${error.message}` : error.message,
    ...position,
    ...(error.stack !== undefined && { stack: error.stack }),
  };
}
