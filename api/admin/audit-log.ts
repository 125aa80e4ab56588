import { auditFilters } from "../audit/filters.ts";
import { listEntries } from "../audit/operations.ts";
import { auditEntrySchema } from "../audit/schemas.ts";
import { optionalParameter, pages, text } from "../http/request/parameters.ts";
import { page } from "../http/response/schemas.ts";
import { adminOperation } from "./context.ts";

export const adminAuditOperations = [
  adminOperation({
    route: "GET /audit_log",
    id: "listAuditLog",
    summary: "List changes of all owners, and of the installation",
    query: pages.extend({
      owner_id: optionalParameter(text.max(255, "it must have at most 255 characters")).describe(
        "Only changes of what this user or organization owns: `u_…` or `o_…`.",
      ),
      ...auditFilters.shape,
    }),
    responses: page(auditEntrySchema),
    handle: async (call, { ports }) => {
      const { owner_id: owner, ...filters } = call.query();
      return listEntries(owner, filters, call, ports);
    },
  }),
];
