import type { Delivery } from "./delivery.ts";
import type { DeliveryPorts } from "./ports.ts";

const retryMs = 500;

/** A delivery that cannot be handed on now (the server is away) is tried until it can; false when we stop before. */
export async function untilDone(
  action: () => Promise<void>,
  delivery: Pick<Delivery, "id">,
  ports: Pick<DeliveryPorts, "log">,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await action();
      return true;
    } catch (error) {
      ports.log.warn({ op: "delivery.settle", "delivery.id": delivery.id, err: error }, "a delivery is not settled yet, trying again");
      if (signal.aborted) return false;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

export function assertDone(done: boolean): void {
  if (!done) throw new Error("stopped before the delivery was settled");
}
