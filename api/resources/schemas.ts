import { z } from "zod";
import { componentTypes } from "../../domain/component/definition.ts";
import { healthStates } from "../../domain/source/source-health.ts";
import { memberRoles, scopes } from "../owners/ports.ts";

/**
 * Schemas of the resources in responses, for the OpenAPI document and for tests, which check every response. An `id`
 * in a schema's meta names it in the document.
 */

const seconds = z.int().describe("Epoch seconds.");
const times = { created_at: seconds, updated_at: seconds };

const quotaExceededUntil = seconds
  .optional()
  .describe("Epoch seconds. Present while a daily quota is used up: until then, new work waits, and runs afterwards.");

export const warningSchema = z
  .object({
    code: z.string().describe("For programs: stable, snake_case."),
    message: z.string().describe("What was found, and how to fix it."),
    path: z.string().describe("A field of the request, or a path in the component's definition, such as `props.count.default`."),
  })
  .meta({ id: "Warning", description: "A probable mistake in an accepted request." });

export const organizationSchema = z
  .object({
    name: z.string(),
    id: z.string().describe("`o_…`."),
    orgname: z.string(),
    email: z.string(),
    quota_exceeded_until: quotaExceededUntil,
  })
  .meta({ id: "Organization" });

export const userSchema = z
  .object({
    id: z.string().describe("`u_…`."),
    username: z.string(),
    email: z.string(),
    orgs: z.array(organizationSchema),
    daily_compute_time_quota: z.number().optional().describe("Milliseconds."),
    daily_compute_time_used: z.number().optional().describe("Milliseconds since midnight UTC."),
    daily_invocations_quota: z.number().optional(),
    daily_invocations_used: z.number().optional(),
    billing_period_start_ts: seconds.optional(),
    billing_period_end_ts: seconds.optional(),
    billing_period_invocations: z.number().optional(),
    quota_exceeded_until: quotaExceededUntil,
  })
  .meta({
    id: "User",
    description: "A free plan has the daily fields, a paid plan those of the billing period.",
  });

const propSchema = z.looseObject({ name: z.string(), type: z.string() }).meta({
  id: "Prop",
  description: "A prop of a component, with all fields of its definition: label, description, optional, default, options …",
});

const ownerId = z.string().optional().describe("Only if an organization owns it.");

const configurableProps = z.array(propSchema);

export const componentSchema = z
  .object({
    id: z.string().describe("`sc_…`."),
    code: z.string(),
    entry: z.string().nullable().describe("Path of the file with the code, if it has one."),
    files: z.array(z.string()).describe("Paths of the other files."),
    code_hash: z.string().describe("SHA-256 of the code, hex."),
    name: z.string().nullable(),
    version: z.string().nullable(),
    configurable_props: configurableProps,
    ...times,
  })
  .meta({ id: "Component" });

export const listedComponentSchema = z
  .object({
    id: z.string().describe("`sc_…`."),
    key: z.string().nullable(),
    code_hash: z.string().describe("SHA-256 of the code, hex."),
    name: z.string(),
    version: z.string().nullable(),
    description: z.string().nullable(),
    type: z.enum(componentTypes),
    configurable_props: configurableProps,
    registry: z.boolean().describe("Whether it is part of the registry."),
    ...times,
  })
  .meta({ id: "ListedComponent", description: "A component in lists, without its code." });

export const foundKeysSchema = z
  .object({ sources: z.array(z.string()), actions: z.array(z.string()) })
  .meta({ id: "FoundKeys", description: "Keys of components, best first." });

export const sourceSchema = z
  .object({
    id: z.string().describe("`dc_…`."),
    user_id: z.string().optional().describe("Only in responses to requests that create or change it."),
    owner_id: ownerId,
    component_id: z.string().nullable(),
    configurable_props: configurableProps.optional().describe("Only for components with additional props."),
    configured_props: z.record(z.string(), z.unknown()).describe("Values by prop, without secret ones."),
    active: z.boolean(),
    ...times,
    name: z.string(),
    name_slug: z.string(),
    state: z.enum(healthStates).describe("State of the source; `paused` exactly if `active` is false."),
    problem: z
      .object({
        code: z
          .string()
          .describe("Stable: the code of the run's error (`run_failed` if it has none), or the reason why it is not deployed."),
        message: z.string(),
        since: seconds,
      })
      .nullable()
      .describe("Current problem; null if there is none."),
    last_run_at: seconds.nullable().describe("Start of its last run, epoch seconds; null before the first."),
    last_error: z
      .object({ code: z.string().nullable().describe("Null: the component's code threw it."), message: z.string(), at: seconds })
      .nullable()
      .describe("Error of the last stored failed run, which may be older than the last run."),
    next_tick_at: seconds.nullable().describe("Next tick of its timers, epoch seconds; null: no timer will tick."),
    backlog: z.int().nullable().describe("Accepted invocations that are not finished; null while NATS does not respond."),
  })
  .meta({ id: "Source" });

export const workflowSchema = z
  .object({ id: z.string().describe("`p_…`."), owner_id: ownerId, name: z.string(), active: z.boolean(), created_at: seconds })
  .meta({ id: "Workflow" });

const isoTime = z.string().describe("ISO 8601, UTC.");

const appSchema = z
  .object({ id: z.string().describe("`app_…`."), name_slug: z.string().describe("Such as `github`."), name: z.string() })
  .meta({ id: "App" });

export const accountSchema = z
  .object({
    id: z.string().describe("`apn_…`."),
    app: appSchema.nullable(),
    name: z.string(),
    healthy: z.boolean().nullable().describe("Null until it was checked."),
    problem: z.string().nullable().describe("Why it is not healthy."),
    created_at: isoTime,
    updated_at: isoTime,
  })
  .meta({ id: "Account", description: "An account, without its credentials." });

export const subscriptionSchema = z
  .object({
    id: z.string().describe("`sub_…`."),
    emitter_id: z.string().nullable(),
    listener_id: z.string().nullable(),
    event_name: z.string().describe("A channel; empty is the default one."),
  })
  .meta({ id: "Subscription" });

export const autoSubscriptionSchema = z
  .object({
    id: z.string().describe("`asub_…`."),
    listener_id: z.string().nullable(),
    event_name: z.enum(["$errors", "$logs"]).nullable(),
  })
  .meta({ id: "AutoSubscription" });

export const webhookSchema = z
  .object({
    id: z.string().describe("`wh_…`."),
    user_id: z.string().optional().describe("Only in responses to requests that create or change it."),
    owner_id: ownerId,
    name: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string(),
    active: z.boolean().describe("Whether events are posted."),
    ordered: z.boolean().describe("Whether events arrive in the order of their commits, one at a time."),
    disabled: z
      .object({ at: z.int().describe("Epoch seconds."), reason: z.enum(["EndpointGone", "EndpointFailing"]), message: z.string() })
      .optional()
      .describe(
        "Present while nothing is posted because the endpoint returned 410 Gone or has failed for days; PUT with `active: true` ends that.",
      ),
    ...times,
  })
  .meta({ id: "Webhook" });

export const createdWebhookSchema = webhookSchema
  .extend({ signing_key: z.string().describe("`whsec_…`, only in this response.") })
  .meta({ id: "CreatedWebhook" });

export const optionsSchema = z
  .object({
    options: z.array(z.unknown()).describe("Values, or `{label, value}`."),
    context: z.unknown().describe("The prev_context of the next page; null if there is none."),
    truncated: z.literal(true).optional().describe("There were more options than the limit."),
  })
  .meta({ id: "Options" });

export const propsSchema = z.object({ configurable_props: configurableProps }).meta({ id: "Props" });

export const keySchema = z
  .object({
    id: z.string().describe("`pk_…`."),
    name: z.string(),
    prefix: z.string().describe("The first characters of the key."),
    scopes: z.array(z.enum(scopes)),
    created_at: seconds,
    expires_at: seconds.nullable(),
    last_used_at: seconds.nullable(),
  })
  .meta({ id: "Key", description: "An API key, without the key itself." });

export const createdKeySchema = keySchema.extend({ key: z.string().describe("`hw_…`, only in this response.") }).meta({ id: "CreatedKey" });

export const tokenSchema = z
  .object({
    access_token: z.string().describe("The API key."),
    token_type: z.literal("Bearer"),
    expires_in: z.int().describe("Seconds, at most 3600: then request it again."),
    created_at: seconds,
    scope: z.string().describe("Scopes of the key, separated by spaces."),
  })
  .meta({ id: "Token" });

export const tokenErrorSchema = z
  .object({
    error: z
      .enum(["invalid_request", "invalid_client", "unsupported_grant_type", "temporarily_unavailable"])
      .describe("For programs: RFC 6749, section 5.2."),
    error_description: z.string().describe("For people."),
  })
  .meta({ id: "TokenError" });

export const memberSchema = z
  .object({ user_id: z.string().describe("`u_…`."), username: z.string(), role: z.enum(memberRoles) })
  .meta({ id: "Member", description: "A member of an organization." });
