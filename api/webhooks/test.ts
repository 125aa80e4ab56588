import { setTimeout as pause } from "node:timers/promises";
import { webhookKind } from "../../crds/webhook.ts";
import { Conflict, NotFound, Unavailable } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { TestedWebhook } from "../../domain/delivery/webhook-test.ts";
import { publicIdOf } from "../resources/identity.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
import type { ApiContext } from "../context.ts";
import { checkActive, type WebhookResource } from "./webhook.ts";

export type Tested = Exclude<TestedWebhook, { outcome: "not-ready" }>;

const retryMs = 100;

/**
 * Posts one event now. Waits until a new or changed webhook is ready.
 * @throws Conflict when nothing can be posted to it, Unavailable
 */
export async function testWebhook(webhook: WebhookResource, event: unknown, context: ApiContext): Promise<Tested> {
  const { ports, config, access } = context;
  checkActive(webhook);
  const deadline = performance.now() + config.deployTimeoutMs;
  const ready = await untilReady(webhook, context, deadline);
  const id = publicIdOf(ready);
  const owner = await access.ownerOf(ready);
  if (owner === undefined) throw new NotFound();
  const request = {
    webhook: id,
    owner,
    emitId: newId("emit", ports.randomBytes),
    payload: JSON.stringify(event === undefined ? { test: true, webhook_id: id } : event),
  };
  for (;;) {
    const tested = await ports.redeliveries.test(request);
    if (tested.outcome !== "not-ready") return tested;
    if (performance.now() > deadline) throw notReady(id);
    await pause(retryMs);
  }
}

/** Polls, because tests are rare and most webhooks are ready. */
async function untilReady(webhook: WebhookResource, { ports }: ApiContext, deadline: number): Promise<WebhookResource> {
  const { namespace, name, generation } = webhook.metadata;
  let current: WebhookResource | undefined = webhook;
  for (;;) {
    const verdict = verdictOf(current, generation);
    if (verdict?.outcome === "ready" && current !== undefined) return current;
    if (verdict?.outcome === "gone") throw new NotFound();
    if (verdict !== undefined)
      throw new Conflict(`nothing can be posted to webhook ${publicIdOf(webhook)}: ${verdict.message}`, { code: "webhook_not_ready" });
    if (performance.now() > deadline) throw notReady(publicIdOf(webhook));
    await pause(retryMs);
    current = await ports.store.find(webhookKind, namespace, name);
  }
}

function notReady(id: string): Unavailable {
  return new Unavailable(`webhook ${id} is not ready in time: try again`, { code: "not_ready_in_time" });
}
