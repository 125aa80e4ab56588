import { disabledWebhook, webhookKind } from "../../crds/webhook.ts";
import type { EndpointFailures } from "../../domain/endpoint-failures.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";

/** Between two looks at which endpoints were given up. Nothing is posted there meanwhile: whoever delivers knows it first. */
const everyMs = 10_000;

type Ports = Pick<OperatorPorts, "store" | "failingEndpoints" | "events">;

/** Keeps in the status of webhooks which were disabled by whoever delivers; whoever reconciles them then says so and ends their routes. */
export function disabledReconciler(ports: Ports) {
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    await markDisabled(ports, signal);
    return everyMs;
  };
}

/** One look. */
export async function markDisabled(ports: Ports, signal: AbortSignal): Promise<void> {
  for (const failures of await ports.failingEndpoints.disabled()) {
    signal.throwIfAborted();
    await mark(failures, ports);
  }
}

/** Whoever changed it meanwhile is reconciling it: the next look writes it. */
async function mark({ webhook: id, url, disabled }: EndpointFailures, { store, events }: Ports): Promise<void> {
  const webhook = await store.findById(webhookKind, id);
  if (disabled === undefined || webhook?.status.id !== id || webhook.invalid !== undefined) return;
  if (webhook.metadata.deletionTimestamp !== undefined || webhook.status.disabled?.at === disabled.at) return;
  const marked = { ...webhook, status: { ...webhook.status, disabled: { url, ...disabled } } };
  if (disabledWebhook(marked) === undefined) return; // It was enabled again since, or has another URL.
  try {
    await store.updateStatus(webhookKind, marked);
    events.tell(marked, { type: "Warning", reason: disabled.reason, message: disabled.message });
  } catch (error) {
    if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
  }
}
