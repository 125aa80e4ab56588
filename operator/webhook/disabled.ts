import { disabledWebhook, webhookKind } from "../../crds/webhook.ts";
import type { WebhookFailures } from "../../domain/delivery/webhook-failures.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { OperatorPorts } from "../ports.ts";

/** Polling interval. A delay is harmless: the delivery role already posts nothing to a disabled endpoint. */
const pollIntervalMs = 10_000;

type Ports = Pick<OperatorPorts, "store" | "failingEndpoints" | "events">;

/** Marks webhooks that the delivery role has disabled in their status. Their reconciler then reports it and removes their routes. */
export function disabledReconciler(ports: Ports) {
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    await markDisabled(ports, signal);
    return pollIntervalMs;
  };
}

export async function markDisabled(ports: Ports, signal: AbortSignal): Promise<void> {
  for (const failures of await ports.failingEndpoints.disabled()) {
    signal.throwIfAborted();
    await mark(failures, ports);
  }
}

/** Skips a webhook that was changed in the meantime: the next pass writes it. */
async function mark({ webhook: id, url, disabled }: WebhookFailures, { store, events }: Ports): Promise<void> {
  const webhook = await store.findById(webhookKind, id);
  if (disabled === undefined || webhook?.status.id !== id || webhook.invalid !== undefined) return;
  if (webhook.metadata.deletionTimestamp !== undefined || webhook.status.disabled?.at === disabled.at) return;
  const marked = { ...webhook, status: { ...webhook.status, disabled: { url, ...disabled } } };
  if (disabledWebhook(marked) === undefined) return; // It was enabled again, or has another URL.
  try {
    await store.updateStatus(webhookKind, marked);
    events.record(marked, { type: "Warning", reason: disabled.reason, message: disabled.message });
  } catch (error) {
    if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
  }
}
