import { z } from "zod";
import { componentTypes } from "../../domain/definition.ts";
import { labels } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { pageInfo, parseLimit, type PageRequest } from "../../domain/page.ts";
import type { ListedComponent, ListedComponents } from "../components/ports.ts";
import { ok, type Call, type Reply } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse, parsePage, text } from "../http/parameters.ts";
import type { Answered } from "../responses/answered.ts";
import type { listedComponentSchema } from "../responses/schemas.ts";
import { listedComponentResponse, publishedComponentResponse } from "../responses/component.ts";
import { componentOf } from "./components.ts";
import type { ApiContext } from "./context.ts";

const mostWords = 10;
const empty = z.literal("").transform(() => undefined);
export const query = z.object({
  q: text.max(200, "it must have at most 200 characters").default(""),
  app: z.union([empty, text]).optional(),
  type: z.union([empty, z.enum(componentTypes, `it must be ${componentTypes.join(" or ")}`)]).optional(),
  limit: z.union([z.string(), z.number()], "it must be an integer from 1 to 100").optional(),
});
export const selection = z.object({ version: text.optional() });

/** Components as lists, searches and the registry show them. */
export function componentListRoutes(context: ApiContext) {
  const { access, ports, registry } = context;
  return {
    own: async (call: Call) => {
      const request = parsePage(call.parameters);
      const namespace = await ports.owners.find(await access.owner(call));
      return pageOf(namespace === undefined ? nothing : await ports.library.listPage({ namespace }, request));
    },
    versions: async (call: Call) => listVersions(call, parsePage(call.parameters), context),
    search: async (call: Call) => {
      const { q, app, type, limit } = parse(query, call.parameters);
      const words = q
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== "")
        .slice(0, mostWords);
      const namespaces = await namespacesOf(call, context);
      const published = [...registry.values()];
      return pageOf(await ports.library.search({ namespaces, words, app, type, limit: parseLimit(limit), published }), false);
    },
    registry: async () => pageOf({ items: [...registry.values()], total: registry.size }, false),
    published: async (call: Call) => {
      const key = pathOf(call, "key");
      const { version } = parse(selection, call.parameters);
      const found = registry.get(key);
      if (found === undefined) throw new NotFound();
      if (version !== undefined && version !== "" && version !== found.definition.version)
        throw new NotFound(
          `the registry has version ${found.definition.version ?? ""} of ${key}, and no version '${version.slice(0, 80)}'`,
        );
      return ok(publishedComponentResponse(found));
    },
  };
}

const nothing: ListedComponents = { items: [], total: 0 };

/** All with the key of the component that the path names, of whoever has that one. */
async function listVersions(call: Call, request: PageRequest, context: ApiContext) {
  const { metadata } = await componentOf(call, context);
  const keyLabel = metadata.labels[labels.componentKey];
  if (keyLabel === undefined) throw new NotFound("the component has no key, so nothing says which others are versions of it");
  return pageOf(await context.ports.library.listPage({ namespace: metadata.namespace, keyLabel }, request));
}

/** Of `org_id`, else of the user and then of their organizations. */
async function namespacesOf(call: Call, { access, ports }: ApiContext): Promise<readonly string[]> {
  const named = await access.owner(call);
  const owners = named === call.user.id ? await access.ownersOf(call.user) : [named];
  const namespaces = await Promise.all(owners.map((owner) => ports.owners.find(owner)));
  return namespaces.filter((namespace) => namespace !== undefined);
}

/** What is best first has no pages: a cursor would not stay where it is. */
function pageOf({ items, total }: ListedComponents, hasCursors = true): Reply<readonly Answered<typeof listedComponentSchema>[]> {
  const page_info = pageInfo(hasCursors ? items.map(({ id }: ListedComponent) => id) : [], total);
  return { status: 200, body: { page_info: { ...page_info, count: items.length }, data: items.map(listedComponentResponse) } };
}
