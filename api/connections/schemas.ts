import { z } from "zod";
import { connectionFailures } from "../../domain/connection/connection.ts";

export const startedConnectionSchema = z
  .object({
    connection_id: z.string().describe("`con_…`: GET /connections/{id} returns how it ended."),
    url: z.string().describe("Open it in a browser, and sign in there."),
    expires_at: z.string().describe("ISO 8601, UTC."),
  })
  .meta({ id: "StartedConnection", description: "A request to connect an account, which a person finishes in a browser." });

export const connectionSchema = z
  .object({
    id: z.string().describe("`con_…`."),
    app: z.string().describe("Name slug of the app."),
    status: z.enum(["pending", "connected", "failed"]),
    account_id: z.string().nullable().describe("The account, once it is connected."),
    missing_scopes: z.array(z.string()).describe("Requested scopes that were not granted."),
    problem: z
      .object({ code: z.enum(connectionFailures), message: z.string().describe("What happened and what to do, for people.") })
      .nullable(),
    expires_at: z.string().describe("ISO 8601, UTC."),
  })
  .meta({ id: "Connection", description: "A request to connect an account." });
