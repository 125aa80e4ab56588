import { z } from "zod";
import { componentTypes } from "../../domain/definition.ts";

/**
 * The resources as they are answered: what the document of the API says of them, and what tests hold every answer against. An `id`
 * in a schema's meta names it in the document.
 */

const seconds = z.int().describe("Epoch seconds.");
const times = { created_at: seconds, updated_at: seconds };

export const userSchema = z
  .object({
    id: z.string().describe("`u_…`."),
    username: z.string(),
    email: z.string(),
    orgs: z.array(z.object({ name: z.string(), id: z.string().describe("`o_…`."), orgname: z.string(), email: z.string() })),
    daily_compute_time_quota: z.number().describe("Milliseconds."),
    daily_compute_time_used: z.number().describe("Milliseconds, of the day that began at midnight UTC."),
    daily_invocations_quota: z.number(),
    daily_invocations_used: z.number(),
  })
  .meta({ id: "User" });

const propSchema = z
  .looseObject({ name: z.string(), type: z.string() })
  .meta({
    id: "Prop",
    description: "A prop of a component, with all that its code says of it: label, description, optional, default, options …",
  });

const configurableProps = z.array(propSchema);

export const componentSchema = z
  .object({
    id: z.string().describe("`sc_…`."),
    code: z.string(),
    entry: z.string().nullable().describe("Path of the file that holds the code, where it has one."),
    files: z.array(z.string()).describe("Paths of the files beside it."),
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
    registry: z.boolean().describe("Is it one of the registry?"),
    ...times,
  })
  .meta({ id: "ListedComponent", description: "A component as lists show it: without its code." });

export const sourceSchema = z
  .object({
    id: z.string().describe("`dc_…`."),
    user_id: z.string().optional().describe("Only where the caller has just made or changed it."),
    owner_id: z.string().optional().describe("Only where an organization owns it."),
    component_id: z.string().nullable(),
    configurable_props: configurableProps.optional().describe("Only of components with additional props."),
    configured_props: z.record(z.string(), z.unknown()).describe("Values by prop; secret ones never come back."),
    active: z.boolean(),
    ...times,
    name: z.string(),
    name_slug: z.string(),
  })
  .meta({ id: "Source" });

export const accountSchema = z
  .object({
    id: z.string().describe("`apn_…`."),
    app: z.string().nullable(),
    name: z.string(),
    healthy: z.boolean().nullable().describe("Null until it was looked at."),
    problem: z.string().nullable().describe("What is wrong, when it is not healthy."),
    ...times,
  })
  .meta({ id: "Account", description: "An account without its credentials: those come in and never go out." });

export const subscriptionSchema = z
  .object({
    id: z.string().describe("`sub_…`."),
    emitter_id: z.string().nullable(),
    listener_id: z.string().nullable(),
    event_name: z.string().describe("A channel; empty is the default one."),
  })
  .meta({ id: "Subscription" });

export const webhookSchema = z
  .object({
    id: z.string().describe("`wh_…`."),
    name: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string(),
    active: z.boolean(),
    ...times,
  })
  .meta({ id: "Webhook" });

export const createdWebhookSchema = webhookSchema
  .extend({ user_id: z.string(), signing_key: z.string().describe("`whsec_…`, in this answer and in no other.") })
  .meta({ id: "CreatedWebhook" });

export const optionsSchema = z
  .object({
    options: z.array(z.unknown()).describe("Values, or `{label, value}`."),
    context: z.unknown().describe("To be given back as prev_context for the next page; null when there is none."),
    truncated: z.literal(true).optional().describe("There were more than are let through."),
  })
  .meta({ id: "Options" });

export const propsSchema = z.object({ configurable_props: configurableProps }).meta({ id: "Props" });
