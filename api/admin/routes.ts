import express, { type Router } from "express";
import type { Asked } from "../http/request/call.ts";
import { readBodies } from "../http/request/body.ts";
import type { DoorLimits } from "../http/access/door-limits.ts";
import { mount, routesOf } from "../http/routing/route-table.ts";
import { adminApi } from "../openapi/document.ts";
import { knownNames } from "../openapi/known-names.ts";
import type { adminOperations } from "../openapi/operations/admin.ts";
import { adminDocumentRoute } from "../openapi/routes.ts";
import type { RoutesOf } from "../openapi/typed-routes.ts";
import { authenticateAdmin } from "./authentication.ts";
import type { AdminContext } from "./context.ts";
import { keyRoutes } from "./keys.ts";
import { memberRoutes } from "./members.ts";
import { organizationRoutes } from "./organizations.ts";
import { planRoutes } from "./plans.ts";
import { userRoutes } from "./users.ts";

/** All routes of the admin API. */
function routes(context: AdminContext): RoutesOf<typeof adminOperations, Asked> {
  const keys = keyRoutes(context);
  const members = memberRoutes(context);
  const organizations = organizationRoutes(context);
  const plans = planRoutes(context);
  const users = userRoutes(context);
  return {
    "/users": { GET: users.list, POST: users.create },
    "/users/:id": { GET: users.get, DELETE: users.delete },
    "/users/:id/keys": { GET: keys.list, POST: keys.create },
    "/users/:id/keys/:key_id": { DELETE: keys.revoke },
    "/users/:id/plan": { PUT: plans.ofUser },

    "/orgs": { GET: organizations.list, POST: organizations.create },
    "/orgs/:id": { GET: organizations.get, DELETE: organizations.delete },
    "/orgs/:id/members": { GET: members.list },
    "/orgs/:id/members/:user_id": { PUT: members.put, DELETE: members.remove },
    "/orgs/:id/plan": { PUT: plans.ofOrganization },

    "/plans": { GET: plans.list },
    "/plans/:name": { PUT: plans.save, DELETE: plans.delete },
  };
}

/** The admin API, for operators of the installation: users, organizations, API keys and plans. */
export function adminRouter(context: AdminContext, token: string, { failures, parsing }: DoorLimits): Router {
  const { config, ports } = context;
  const router = express.Router();
  const bodies = { bodies: ports.bodies, parsing, holderOf: () => "admin", limitBytes: () => config.bodyBytes };
  router.use(authenticateAdmin(token, failures), readBodies(bodies));
  const table = routes(context);
  router.use(adminDocumentRoute(routesOf(table)));
  mount(router, "/admin/v1", table, (asked) => asked, knownNames(adminApi));
  return router;
}
