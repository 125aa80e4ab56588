import { enabledAt, webhookHealthOf } from "../../crds/webhook-health.ts";
import type { WebhookHealth } from "../../domain/delivery/webhook-health.ts";
import { successRate } from "../../domain/outcomes.ts";
import type { ApiContext } from "../context.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { WebhookResource } from "./webhook.ts";

/** Facts about a webhook that are not in its resource. */
export interface WebhookFacts {
  readonly owner: string | undefined;
  readonly health: WebhookHealth;
  /** Undefined without recent attempts. */
  readonly successRate: number | undefined;
}

export async function factsOf(webhook: WebhookResource, context: ApiContext): Promise<WebhookFacts> {
  return (await factsOfAll([webhook], context))(webhook);
}

/** Facts about webhooks, with a constant number of queries. */
export async function factsOfAll(
  webhooks: readonly WebhookResource[],
  { access, ports }: ApiContext,
): Promise<(webhook: WebhookResource) => WebhookFacts> {
  const now = ports.clock.now();
  const [owners, outcomes] = await Promise.all([
    Promise.all(webhooks.map(async (webhook) => [publicIdOf(webhook), await access.ownerOf(webhook)] as const)),
    ports.outcomes.webhooks(
      webhooks.map((webhook) => ({ webhook: publicIdOf(webhook), since: enabledAt(webhook) })),
      now,
    ),
  ]);
  const ownerOf = new Map(owners);
  return (webhook) => {
    const recent = outcomes.get(publicIdOf(webhook));
    const owner = ownerOf.get(publicIdOf(webhook));
    return { owner, health: webhookHealthOf(webhook, recent, now), successRate: successRate(recent) };
  };
}
