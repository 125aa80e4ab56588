import { z } from "zod";
import type { RouteListener } from "../domain/deployment.ts";
import { disabledOf, type DisabledEndpoint, type PostedTo } from "../domain/endpoint-failures.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { publicUrl, time } from "./rules.ts";
import { secretReference, type SecretReference } from "./secret-reference.ts";

const spec = z.object({
  url: publicUrl.describe(
    "Where events are posted: http or https with a host name, without user name and password. Private addresses only where the installation allows them.",
  ),
  basicAuth: secretReference
    .optional()
    .describe("Where the text `user:password` is with which each post authenticates (HTTP Basic). Absent: none."),
  name: z.string().max(255).optional().describe("For people."),
  description: z.string().max(2_000).optional().describe("For people."),
  active: z.boolean().default(true).describe("False: nothing is posted; what was emitted meanwhile is not made up for."),
  ordered: z
    .boolean()
    .optional()
    .describe(
      "True: events arrive in the order of their commits, one at a time; the next one waits until the one before was delivered or became a dead letter. Absent: false.",
    ),
  signingKeys: z
    .array(secretReference)
    .max(2)
    .default([])
    .describe(
      "Where the signing keys are, each `whsec_` and the base64 of 24 to 64 bytes, newest first; two during a rotation. Without any the operator makes one and says in the status where.",
    ),
  previousKeyUntil: time
    .optional()
    .describe("Until then the second signing key signs beside the first, RFC 3339; absent: as long as it is named."),
  enabledAt: time
    .optional()
    .describe(
      "When somebody last said that the endpoint is to be posted to, RFC 3339: what failed there before counts no more. A later time enables a webhook that was disabled.",
    ),
});
export type WebhookSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the last change of the spec was seen, epoch milliseconds."),
  signingKey: secretReference.optional().describe("The signing key that the operator made, when the spec names none."),
  disabled: z
    .object({
      at: z.int().describe("Epoch milliseconds."),
      url: z.string().describe("The URL that it was disabled for: another one is posted to."),
      reason: z.enum(["EndpointGone", "EndpointFailing"]).describe("One word for programs, that of the condition."),
      message: z.string().describe("A sentence for people: what the endpoint did, and what enables it again."),
    })
    .optional()
    .describe("Since when nothing is posted, and why, when the endpoint answered 410 Gone or has failed for days."),
});
export type WebhookStatus = z.infer<typeof status>;

export const webhookKind = defineKind<WebhookSpec, WebhookStatus>({
  kind: "Webhook",
  plural: "webhooks",
  shortNames: ["hwhook"],
  description: "An address that events are posted to, signed, and again until it answers 2xx. A Subscription says which events.",
  columns: columnsOf(
    { name: "Url", type: "string", path: ".spec.url", description: "Where events are posted." },
    { name: "Active", type: "boolean", path: ".spec.active", description: "Whether anything is posted.", wide: true },
    { name: "Name", type: "string", path: ".spec.name", description: "For people.", wide: true },
  ),
  selectable: [".spec.active", ".status.id"],
  spec: spec as unknown as z.ZodType<WebhookSpec>, // Defaults make input and output differ; a stored spec is the output.
  status,
});

/** Where its events go, as whoever delivers sees it. */
export function postedTo(id: string, { url, enabledAt }: Pick<WebhookSpec, "url" | "enabledAt">): PostedTo {
  return { id, url, ...(enabledAt === undefined ? {} : { enabledAt: Date.parse(enabledAt) }) };
}

/** Secret texts of a webhook, sealed for those who deliver. */
export interface SealedWebhook {
  /** Signing keys, newest first. */
  readonly keys: readonly string[];
  readonly basicAuth?: string;
}

/** The webhook as those who deliver see it. */
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

/** All secret texts that its spec refers to: those that are kept for it and not among them end. */
export function secretsOf({ signingKeys, basicAuth }: WebhookSpec): readonly SecretReference[] {
  return basicAuth === undefined ? signingKeys : [...signingKeys, basicAuth];
}

/** Why nothing is posted to it although it is active; undefined when it was not disabled, or enabled again since. */
export function disabledWebhook({
  spec,
  status,
}: Pick<Resource<WebhookSpec, WebhookStatus>, "spec" | "status">): DisabledEndpoint | undefined {
  const { disabled } = status;
  return disabled === undefined ? undefined : disabledOf({ url: disabled.url, disabled }, postedTo(status.id ?? "", spec));
}
