import { dueSince, encodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { DeliveryPorts } from "../ports.ts";

/** An event that a workflow listens to is kept whole in its queue, under the delivery's id: repeated, it is kept once. Nobody runs it yet. */
export async function deliverToWorkflow(
  delivery: Delivery,
  { workflows, metrics, clock }: Pick<DeliveryPorts, "workflows" | "metrics" | "clock">,
): Promise<void> {
  const started = clock.now();
  await workflows.store(delivery.listener, encodeDelivery(delivery), delivery.id);
  const now = clock.now();
  metrics?.attempted("workflow", "delivered", now - started);
  metrics?.delivered("workflow", now - dueSince(delivery, started));
}
