import { z } from "zod";
import type { RouteListener } from "../domain/source/deployment.ts";
import { disabledOf, type DisabledWebhook, type WebhookTarget } from "../domain/delivery/webhook-failures.ts";
import { webhookStates } from "../domain/delivery/webhook-health.ts";
import { baseStatus, columnsOf, defineKind, statusProblem, type Resource } from "./resource.ts";
import { publicUrl, time } from "./rules.ts";
import { secretReference, type SecretReference } from "./secret-reference.ts";

const spec = z.object({
  url: publicUrl.describe(
    "URL to post events to: http or https with a host name, without user name and password. Private addresses only if the installation allows them.",
  ),
  basicAuth: secretReference
    .optional()
    .describe("Reference to the text `user:password` that authenticates each post (HTTP Basic). If absent, posts are not authenticated."),
  name: z.string().max(255).optional().describe("Display name."),
  description: z.string().max(2_000).optional().describe("Description for people."),
  active: z.boolean().default(true).describe("If false, nothing is posted. Events emitted in that time are not delivered later."),
  ordered: z
    .boolean()
    .optional()
    .describe(
      "If true, the events of each source arrive in the order of their commits, one at a time: each waits until the previous one was delivered or became a dead letter. Default: false.",
    ),
  signingKeys: z
    .array(secretReference)
    .max(2)
    .default([])
    .describe(
      "References to the signing keys, newest first; two during a rotation. Each is `whsec_` and 24 to 64 bytes in base64. If there are none, the operator creates one and refers to it in the status.",
    ),
  previousKeyUntil: time.optional().describe("Time until which the second key also signs, RFC 3339. If absent, as long as it is listed."),
  enabledAt: time
    .optional()
    .describe(
      "When you last enabled the endpoint, RFC 3339: earlier failures no longer count. Set a later time to enable a disabled webhook.",
    ),
});
export type WebhookSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  state: z.enum(webhookStates).optional().describe("State of its deliveries, updated within a minute. docs/api.md describes each state."),
  problem: statusProblem.optional().describe("Current problem; absent if there is none."),
  successRate: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Share of attempts that succeeded, of the last 100 within an hour, when the state was written."),
  updatedAt: z.int().optional().describe("When the operator saw the last change of the spec, epoch milliseconds."),
  signingKey: secretReference.optional().describe("The signing key that the operator created, if the spec has none."),
  disabled: z
    .object({
      at: z.int().describe("Epoch milliseconds."),
      url: z.string().describe("The disabled URL. Events are posted to any other URL."),
      reason: z.enum(["EndpointGone", "EndpointFailing"]).describe("Reason of the condition, for programs."),
      message: z.string().describe("What the endpoint did, and how to enable it again, for people."),
    })
    .optional()
    .describe("Why and since when nothing is posted, if the endpoint returned 410 Gone or has failed for days."),
});
export type WebhookStatus = z.infer<typeof status>;
export type WebhookResource = Resource<WebhookSpec, WebhookStatus>;

export const webhookKind = defineKind<WebhookSpec, WebhookStatus>({
  kind: "Webhook",
  plural: "webhooks",
  shortNames: ["hwhook"],
  description: "A URL that Headwater posts signed events to, with retries until it returns 2xx. Subscriptions select the events.",
  columns: columnsOf(
    { name: "Url", type: "string", path: ".spec.url", description: "URL that events are posted to." },
    { name: "State", type: "string", path: ".status.state", description: "State of its deliveries." },
    { name: "Problem", type: "string", path: ".status.problem.code", description: "Code of the current problem.", wide: true },
    { name: "Active", type: "boolean", path: ".spec.active", description: "Whether events are posted.", wide: true },
    { name: "Name", type: "string", path: ".spec.name", description: "Display name.", wide: true },
  ),
  selectable: [".spec.active", ".status.id"],
  spec: spec as unknown as z.ZodType<WebhookSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});

/** The webhook's target, for the delivery role. */
export function postedTo(id: string, { url, enabledAt }: Pick<WebhookSpec, "url" | "enabledAt">): WebhookTarget {
  return { id, url, ...(enabledAt === undefined ? {} : { enabledAt: Date.parse(enabledAt) }) };
}

/** Secret texts of a webhook, sealed for the delivery role. */
export interface SealedWebhook {
  /** Signing keys, newest first. */
  readonly keys: readonly string[];
  readonly basicAuth?: string;
}

/** The webhook as a listener of a route, for the delivery role. */
export function routedWebhook(
  id: string,
  spec: WebhookSpec,
  { keys, basicAuth }: SealedWebhook,
): Extract<RouteListener, { kind: "webhook" }> {
  return {
    kind: "webhook",
    ...postedTo(id, spec),
    ...(spec.ordered === true ? { ordered: true } : {}),
    keys,
    ...(basicAuth === undefined ? {} : { basicAuth }),
  };
}

/** All secret texts that the spec refers to. Others that are stored for the webhook can be deleted. */
export function secretsOf({ signingKeys, basicAuth }: WebhookSpec): readonly SecretReference[] {
  return basicAuth === undefined ? signingKeys : [...signingKeys, basicAuth];
}

/** Why nothing is posted to an active webhook; undefined if it was not disabled, or was enabled since. */
export function disabledWebhook({
  spec,
  status,
}: Pick<Resource<WebhookSpec, WebhookStatus>, "spec" | "status">): DisabledWebhook | undefined {
  const { disabled } = status;
  return disabled === undefined ? undefined : disabledOf({ url: disabled.url, disabled }, postedTo(status.id ?? "", spec));
}
