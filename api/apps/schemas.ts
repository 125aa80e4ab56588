import { z } from "zod";
import { appGrants, authKinds, clientAuthentications, requestFormats } from "../../domain/app/app.ts";

const oauth = z
  .object({
    grant: z.enum(appGrants),
    authorization_url: z.string().nullable(),
    token_url: z.string(),
    refresh_url: z.string().nullable(),
    revocation_url: z.string().nullable(),
    issuer: z.string().nullable(),
    pkce: z.boolean(),
    scopes: z.array(z.string()),
    scope_parameter: z.string(),
    scope_separator: z.string(),
    authorization_params: z.record(z.string(), z.string()),
    client_authentication: z.enum(clientAuthentications),
    request_format: z.enum(requestFormats),
    token_params: z.record(z.string(), z.string()),
    token_path: z.string().nullable(),
    void_grant_errors: z.array(z.string()),
    token_fields: z.array(z.string()),
    test_url: z.string().nullable(),
    test_name: z.string().nullable(),
    test_picture: z.string().nullable(),
  })
  .meta({ id: "AppOauth", description: "Addresses and parameters of OAuth 2." });

export const appSchema = z
  .object({
    id: z.string().describe("`app_…`."),
    name_slug: z.string().describe("Such as `slack`."),
    name: z.string(),
    description: z.string().nullable(),
    auth_type: z.enum(["oauth", "keys", "none"]).describe("The kind, as clients of the known service read it."),
    kind: z.enum(authKinds).describe("The kind."),
    custom_fields_json: z
      .string()
      .describe("JSON: an array of the fields that a person enters, with name, label, description and optional."),
    categories: z.array(z.string()),
    documentation_url: z.string().nullable().describe("Page of the service on registering a client, or on its credentials."),
    oauth: oauth.nullable(),
    origin: z
      .enum(["own", "shared", "built_in"])
      .describe("`own`: an App of the owner. `shared`: of the owner whose apps count for everybody. `built_in`: it comes with Headwater."),
    connectable: z.boolean().describe("Whether accounts are connected by signing in at the service."),
    has_client: z.boolean().describe("Whether an OAuth client for it exists, of the owner or of the installation."),
  })
  .meta({ id: "ConnectableApp", description: "How one connects to a service." });
