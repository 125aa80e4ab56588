import type { Ending } from "./activity.ts";
import { readDefinition } from "./definition.ts";
import { type ExecutionRoom, watched } from "./execute.ts";
import type { Inspection, InspectRequest } from "../port.ts";
import { ProductCollector } from "./products.ts";
import { bundlePosition, limitError } from "./run-error.ts";

const memoryMb = 256;

/** Evaluates a bundle in an isolate of its own and reads the component's definition. */
export async function inspect({ bundle, owner = "", timeoutMs }: InspectRequest, room: ExecutionRoom, id: number): Promise<Inspection> {
  const context = await room.nursery.take({ needsNode: bundle.needsNode, memoryMb }, owner);
  try {
    const loaded = await watched(context, room, { id }, () => context.load(bundle, {}, timeoutMs, new ProductCollector()));
    if (loaded.outcome !== "done") return rejection(loaded);
    const described = await watched(context, room, { id }, () => context.perform("describe", [], timeoutMs, new ProductCollector()));
    return described.outcome === "done" ? readDefinition(described.value) : rejection(described);
  } finally {
    context.isolate.dispose();
  }
}

function rejection(ending: Exclude<Ending, { outcome: "done" }>): Inspection {
  const error = ending.outcome === "interrupted" ? limitError("sandbox_error", "its isolate was disposed") : ending.error;
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
