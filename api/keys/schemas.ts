import { z } from "zod";
import { scopes } from "../http/ports.ts";
import { seconds } from "../resources/schemas.ts";

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
