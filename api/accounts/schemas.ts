import { z } from "zod";

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
