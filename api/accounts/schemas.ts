import { z } from "zod";
import { accountGrants } from "../../crds/account.ts";

const isoTime = z.string().describe("ISO 8601, UTC.");

const appSchema = z
  .object({ id: z.string().describe("`app_…`."), name_slug: z.string().describe("Such as `github`."), name: z.string() })
  .meta({ id: "App" });

const connectionSchema = z
  .object({
    oauth_client_id: z.string().describe("`oac_…`."),
    name: z.string().nullable().describe("Its name at the service."),
    picture: z.string().nullable().describe("Address of its picture at the service."),
    scopes: z.array(z.string()).describe("Granted scopes."),
    connected_at: isoTime,
  })
  .meta({ id: "AccountConnection" });

export const accountSchema = z
  .object({
    id: z.string().describe("`apn_…`."),
    app: appSchema.nullable(),
    name: z.string(),
    healthy: z.boolean().nullable().describe("Null until it was checked."),
    problem: z.string().nullable().describe("Why it is not healthy."),
    needs_reconnect: z.boolean().describe("Whether a person must connect it again: POST /accounts/{id}/reconnect."),
    grant_type: z
      .enum(accountGrants)
      .nullable()
      .describe("How its access token is requested: with a refresh token, or with the id and secret of a client. Null: it is not."),
    connection: connectionSchema.nullable().describe("How it was connected by an OAuth client; null: its credentials were given."),
    refreshed_at: z.string().nullable().describe("When its access token was last refreshed. ISO 8601, UTC."),
    created_at: isoTime,
    updated_at: isoTime,
  })
  .meta({ id: "Account", description: "An account, without its credentials." });

export const accountUseSchema = z
  .object({ kind: z.enum(["source", "workflow"]), id: z.string().describe("`dc_…` or `p_…`."), name: z.string() })
  .meta({ id: "AccountUse", description: "A source or workflow that names an account in its props." });
