import { appKind, appOf, type AppResource } from "../../crds/app.ts";
import type { FoundApp } from "../../crds/app-library.ts";
import { searchApps } from "../../domain/app/app.ts";
import { pageInfo, pageOf } from "../../domain/page.ts";
import { operation, type ApiContext } from "../context.ts";
import { ownerParameters, parsePage } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one, page } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { changeable, createApp, deleteApp, updateApp } from "./change.ts";
import { getApp, idOfApp, namespaceOf } from "./library.ts";
import { appChanges, appFields, appFilters } from "./request.ts";
import { appResponse } from "./response.ts";
import { appSchema } from "./schemas.ts";

/** Apps are data: those that come with Headwater, and those of owners. */
export const appOperations = [
  operation({
    route: "GET /apps",
    id: "listApps",
    summary: "List and search apps",
    description: "By name; with `q`, those whose name begins with it come first.",
    query: appFilters,
    responses: page(appSchema),
    handle: async (call, context) => {
      const { q = "", category, kind } = call.query();
      const request = parsePage(call.parameters);
      const namespace = await namespaceOf(call, context);
      const given = await context.apps.list(namespace);
      const wanted = given.filter((app) => kind === undefined || app.auth === kind);
      const found = searchApps(category === undefined ? wanted : wanted.filter(({ categories }) => categories.includes(category)), q);
      const items = pageOf(found, idOfApp, request);
      const clients = await context.apps.clientsFor(namespace, items);
      const data = items.map((app) => appResponse(app, clients.has(app.slug)));
      return { status: 200, body: { page_info: pageInfo(items.map(idOfApp), found.length), data } };
    },
  }),
  operation({
    route: "POST /apps",
    id: "createApp",
    change: { action: "create", kind: "App" },
    summary: "Add an app of your own",
    query: ownerParameters,
    body: appFields,
    responses: one(appSchema),
    errors: [409],
    handle: async (call, context) => {
      const created = await createApp(call.body(), await context.access.owner(call), context);
      await context.ports.pages.show(appKind, created);
      return ok(await ownResponse(created, context));
    },
  }),
  operation({
    route: "GET /apps/:slug",
    id: "getApp",
    summary: "Get an app, by its slug or id",
    query: ownerParameters,
    responses: one(appSchema),
    handle: async (call, context) => {
      const namespace = await namespaceOf(call, context);
      const app = await getApp(pathOf(call, "slug"), namespace, context);
      return ok(appResponse(app, (await context.apps.clientFor(namespace, app)) !== undefined));
    },
  }),
  operation({
    route: "PUT /apps/:slug",
    id: "updateApp",
    change: { action: "update", kind: "App" },
    summary: "Change an app of your own",
    description: "Absent fields stay unchanged. Null removes a field.",
    query: ownerParameters,
    body: appChanges,
    responses: one(appSchema),
    errors: [409],
    handle: async (call, context) => {
      const changes = call.body();
      const namespace = await namespaceOf(call, context);
      const app = changeable(await getApp(pathOf(call, "slug"), namespace, context), namespace);
      const updated = await updateApp(app, changes, context);
      await context.ports.pages.show(appKind, updated);
      return ok(await ownResponse(updated, context));
    },
  }),
  operation({
    route: "DELETE /apps/:slug",
    id: "deleteApp",
    change: { action: "delete", kind: "App" },
    summary: "Delete an app of your own",
    description: "Its accounts stay, but can no longer be refreshed: connect them again with another app.",
    query: ownerParameters,
    responses: nothing,
    handle: async (call, context) => {
      const namespace = await namespaceOf(call, context);
      await deleteApp(changeable(await getApp(pathOf(call, "slug"), namespace, context), namespace), context);
      return noContent;
    },
  }),
];

async function ownResponse(resource: AppResource, { apps }: ApiContext) {
  const { namespace } = resource.metadata;
  const app: FoundApp = { ...appOf(resource), origin: "own", resource };
  return appResponse(app, (await apps.clientFor(namespace, app)) !== undefined);
}
