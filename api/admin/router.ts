import express, { type Router } from "express";
import type { DoorLimits } from "../http/access/door-limits.ts";
import { readBodies } from "../http/request/body.ts";
import type { AnonymousCall, Input } from "../http/request/call.ts";
import { noAliases } from "../http/routing/aliases.ts";
import { auditedAdmin } from "../audit/audited.ts";
import { mount } from "../http/routing/mount.ts";
import { adminDocumentPage } from "../openapi/pages.ts";
import { authenticateAdmin } from "./authentication.ts";
import { adminAuditOperations } from "./audit-log.ts";
import { adminComponentOperations } from "./components.ts";
import type { AdminContext } from "./context.ts";
import { adminMetricsOperations } from "./metrics.ts";
import { adminNamespaceOperations } from "./namespaces.ts";
import { adminOrganizationOperations } from "./organizations.ts";
import { adminPlanOperations } from "./plans.ts";
import { adminStatusOperations } from "./status.ts";
import { adminStorageOperations } from "./storage.ts";
import { adminVariableOperations } from "./variables.ts";
import { adminUserOperations } from "./users.ts";

/** All operations of the admin API, by tag. */
export const adminOperations = {
  Users: adminUserOperations,
  Organizations: adminOrganizationOperations,
  Namespaces: adminNamespaceOperations,
  Plans: adminPlanOperations,
  Components: adminComponentOperations,
  Variables: adminVariableOperations,
  "Audit log": adminAuditOperations,
  Installation: [...adminStatusOperations, ...adminStorageOperations, ...adminMetricsOperations],
};

/** The admin API, for operators of the installation: users, organizations, API keys and plans. */
export function adminRouter(context: AdminContext, token: string, { failures, parsing, listMemory }: DoorLimits): Router {
  const { config, ports } = context;
  const router = express.Router();
  const bodies = { bodies: ports.bodies, parsing, holderOf: () => "admin", limitBytes: () => config.bodyBytes };
  router.use(authenticateAdmin(token, failures), readBodies(bodies));
  router.use(adminDocumentPage(adminOperations));
  const lists = () => ({ memory: listMemory, holder: "admin" });
  const options = { base: "/admin/v1", context, callOf: (call: AnonymousCall & Input) => call, aliasesOf: noAliases, lists };
  mount(router, Object.values(adminOperations).flat().map(auditedAdmin), options);
  return router;
}
