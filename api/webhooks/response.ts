import type { Resource } from "../../crds/resource.ts";
import { disabledWebhook, type WebhookSpec, type WebhookStatus } from "../../crds/webhook.ts";
import { showCredentials, withoutCredentials } from "../../domain/secrets/url-credentials.ts";
import { createdAt, epochSeconds, publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import { problemResponse } from "../resources/problem.ts";
import { ownerField } from "../resources/owner-field.ts";
import { readText } from "../resources/stored-fields.ts";
import type { WebhookFacts } from "./facts.ts";
import type { StoredAttempt } from "./ports.ts";
import type { rotatedWebhookSchema, testedWebhookSchema, webhookSchema } from "./schemas.ts";
import type { Tested } from "./test.ts";

/** Fields of some responses: the caller who created or changed it, the time of that (epoch ms), and a new signing key. */
export interface WebhookChange {
  readonly userId: string;
  readonly changedAt?: number;
  readonly signingKey?: string;
}

export function webhookResponse(
  webhook: Resource<WebhookSpec, WebhookStatus>,
  { owner, health, successRate }: WebhookFacts,
  change?: WebhookChange,
): Answered<typeof webhookSchema> & { readonly signing_key?: string } {
  const { name, description, url, basicAuth, active, ordered } = webhook.spec;
  const disabled = disabledWebhook(webhook);
  const at = createdAt(webhook);
  const updatedAt = change?.changedAt ?? webhook.status.updatedAt;
  return {
    id: publicIdOf(webhook),
    ...(change === undefined ? {} : { user_id: change.userId }),
    ...ownerField(owner),
    name: name ?? null,
    description: description ?? null,
    url: showCredentials(withoutCredentials(readText(url) ?? ""), basicAuth !== undefined),
    active: active && disabled === undefined,
    ordered: ordered === true,
    ...(disabled === undefined ? {} : { disabled: { at: epochSeconds(disabled.at), reason: disabled.reason, message: disabled.message } }),
    created_at: at,
    updated_at: updatedAt === undefined ? at : Math.max(at, epochSeconds(updatedAt)),
    state: health.state,
    problem: problemResponse(health.problem),
    success_rate: successRate ?? null,
    circuit_open_until: health.circuitOpenUntil === undefined ? null : Math.ceil(health.circuitOpenUntil / 1_000),
    ...(change?.signingKey === undefined ? {} : { signing_key: change.signingKey }),
  };
}

/** With the time until which the previous key also signs, epoch seconds; null: only the new one signs. */
export function rotationResponse(
  webhook: Resource<WebhookSpec, WebhookStatus>,
  facts: WebhookFacts,
  change: WebhookChange,
): Answered<typeof rotatedWebhookSchema> {
  const { previousKeyUntil } = webhook.spec;
  return {
    ...webhookResponse(webhook, facts, change),
    previous_key_until: previousKeyUntil === undefined ? null : epochSeconds(Date.parse(previousKeyUntil)),
  };
}

export function testResponse({ outcome, delivery, ...result }: Tested): Answered<typeof testedWebhookSchema> {
  return { delivery_id: delivery, outcome, ...attemptResult(result) };
}

/** The result of an attempt. */
export function attemptResult({ at, durationMs, status, error }: Pick<StoredAttempt, "at" | "durationMs" | "status" | "error">) {
  return { at_ms: at, duration_ms: durationMs, response_status: status, cause: error };
}
