import { z } from "zod";

const isoTime = z.string().describe("ISO 8601, UTC.");

export const oauthClientSchema = z
  .object({
    id: z.string().describe("`oac_…`."),
    app: z.string().describe("Name slug of the app."),
    name: z.string().nullable(),
    client_id: z.string(),
    has_secret: z.boolean().describe("Whether it has a secret, which no response shows."),
    scopes: z.array(z.string()).nullable().describe("Scopes that it requests; null: those of the app."),
    redirect_uri: z.string().describe("Register this address at the service: it redirects browsers to it."),
    healthy: z.boolean().nullable().describe("Null until it was checked."),
    problem: z.string().nullable().describe("Why it is not healthy."),
    created_at: isoTime,
    updated_at: isoTime,
  })
  .meta({ id: "OAuthClient", description: "A client that was registered at a service, without its secret." });
