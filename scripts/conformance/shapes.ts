import { z } from "zod";

/** The specification's resources; further fields are fine. */
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9A-Za-z]+$`), `it should be ${prefix}_…`);
const seconds = z.int().min(1_000_000_000).max(100_000_000_000);
const times = { created_at: seconds, updated_at: seconds };

export const dataOf = <Shape extends z.ZodType>(data: Shape) => z.object({ data });
export const pageOf = <Shape extends z.ZodType>(item: Shape) =>
  z.object({
    page_info: z.looseObject({
      total_count: z.int(),
      count: z.int(),
      start_cursor: z.string().nullable(),
      end_cursor: z.string().nullable(),
    }),
    data: z.array(item),
  });

export const user = z.looseObject({
  id: id("u"),
  username: z.string(),
  email: z.string(),
  orgs: z.array(z.unknown()),
  // Depends on the plan.
  daily_compute_time_quota: z.number().optional(),
  daily_compute_time_used: z.number().optional(),
  daily_invocations_quota: z.number().optional(),
  daily_invocations_used: z.number().optional(),
});
export const component = z.looseObject({
  id: id("sc"),
  code: z.string(),
  code_hash: z.string().regex(/^[0-9a-f]+$/),
  name: z.string(),
  version: z.string(),
  configurable_props: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  ...times,
});
export const source = z.looseObject({
  id: id("dc"),
  component_id: id("sc"),
  configured_props: z.record(z.string(), z.unknown()),
  active: z.boolean(),
  ...times,
  name: z.string(),
  name_slug: z.string(),
});
export const eventSummary = z.looseObject({
  id: z.string().regex(/^\d{13}-\d+$/, "it should be <epoch ms>-<sequence>"),
  indexed_at_ms: z.int(),
  event: z.unknown(),
  metadata: z.looseObject({ emit_id: z.string(), name: z.string(), emitter_id: id("dc") }),
});
export const webhook = z.looseObject({
  id: id("wh"),
  name: z.string().nullable(),
  description: z.string().nullable(),
  url: z.string(),
  active: z.boolean(),
  ...times,
});
export const subscription = z.looseObject({ id: id("sub"), emitter_id: z.string(), listener_id: z.string(), event_name: z.string() });
export const autoSubscription = z.looseObject({ id: id("asub"), listener_id: z.string(), event_name: z.string() });
export const created = { user_id: id("u") };
export const account = z.looseObject({
  id: id("apn"),
  app: z.looseObject({ id: z.string(), name_slug: z.string(), name: z.string() }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
