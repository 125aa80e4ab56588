import { z } from "zod";
import { seconds } from "../resources/schemas.ts";
import { actorKinds } from "./ports.ts";

const actorSchema = z
  .object({
    kind: z.enum(actorKinds).describe("`user`: with an API key or a session; `admin`: with the admin token."),
    user_id: z.string().nullable().describe("`u_…`."),
    key_id: z.string().nullable().describe("`pk_…`."),
    key_name: z.string().nullable(),
    session_id: z.string().nullable().describe("Of the web console."),
    address: z.string().nullable().describe("IP address of the client."),
  })
  .meta({ id: "AuditActor", description: "Who made a change." });

export const auditEntrySchema = z
  .object({
    id: z.string().describe("`al_…`."),
    at: seconds,
    owner_id: z.string().nullable().describe("The user or organization that owns what changed."),
    operation: z.string().describe("`operationId` in this document."),
    action: z.string().describe("`create`, `update`, `delete`, or another verb such as `run`."),
    kind: z.string().describe("Such as `Source`, `Account`, `ApiKey` or `Member`."),
    resource_id: z.string().nullable(),
    resource_name: z.string().nullable(),
    fields: z.array(z.string()).describe("Names of the fields that the request set. Values are not recorded."),
    error: z.string().nullable().describe("Code of the error that the request returned although something changed."),
    actor: actorSchema,
  })
  .meta({ id: "AuditEntry", description: "A change of a resource, account, key, member or setting by a request to the REST API." });
