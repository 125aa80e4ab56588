import { z } from "zod";
import { auditEventList, requestsFrom } from "../audit/kubernetes-requests.ts";
import { noContent } from "../http/response/replies.ts";
import { optionalParameter, text } from "../http/request/parameters.ts";
import { nothing } from "../http/response/schemas.ts";
import { adminOperation } from "./context.ts";

export const kubernetesAuditOperations = [
  adminOperation({
    route: "POST /kubernetes_audit_events",
    id: "receiveKubernetesAuditEvents",
    changesNoResource: true,
    summary: "Receive audit events of the Kubernetes API server",
    description: "The webhook backend of the API server's audit log sends them here: entries of the audit log then name the user.",
    query: z.object({ timeout: optionalParameter(text).describe("Sent by the API server.") }),
    body: auditEventList,
    responses: nothing,
    handle: async (call, { ports }) => {
      await ports.auditLog.recordRequests(requestsFrom(call.body().items));
      return noContent;
    },
  }),
];
