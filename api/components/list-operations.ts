import { z } from "zod";
import { componentTypes } from "../../domain/component/definition.ts";
import { labels } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { suggestion } from "../../domain/nearest-name.ts";
import { pageInfo, parseLimit, type PageRequest } from "../../domain/page.ts";
import type { ComponentQuery, ListedComponent, ListedComponents } from "./ports.ts";
import { ok, type Call, type Reply } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { itemCount, parse, parsePage, text } from "../http/request/parameters.ts";
import type { Answered } from "../resources/response.ts";
import type { listedComponentSchema } from "../resources/schemas.ts";
import { listedComponentResponse, publishedComponentResponse } from "./response.ts";
import { componentOf } from "./operations.ts";
import type { ApiContext } from "../context.ts";

const maxWords = 20;
/** In a natural-language query, about half of the words describe the component. */
const defaultSimilarity = 0.5;
/** Stop words: they occur in every description and would raise every similarity. */
const stopWords = new Set("a an and as at by for from i if in is it my of on or that the this to when with".split(" "));
const empty = z.literal("").transform(() => undefined);
const aboutSimilarity = "it must be a number from 0 to 1";

export const search = z.object({
  query: text.max(500, "it must have at most 500 characters").default(""),
  app: z.union([empty, text]).optional(),
  similarity_threshold: z.union([empty, z.coerce.number().min(0, aboutSimilarity).max(1, aboutSimilarity)], aboutSimilarity).optional(),
  limit: itemCount.optional(),
});
export const detailedSearch = search.extend({
  type: z.union([empty, z.enum(componentTypes, `it must be ${componentTypes.join(" or ")}`)]).optional(),
});
export const selection = z.object({ version: text.optional() });

/** Lists, searches and the registry of components. */
export function componentListRoutes(context: ApiContext) {
  const { access, ports, registry } = context;
  return {
    own: async (call: Call) => {
      const request = parsePage(call.parameters);
      const namespace = await ports.owners.find(await access.owner(call));
      return pageOf(namespace === undefined ? nothing : await ports.library.listPage({ namespace }, request));
    },
    versions: async (call: Call) => listVersions(call, parsePage(call.parameters), context),
    /** Returns keys without a `data` envelope, the form that clients of the known service read. */
    search: async (call: Call): Promise<Reply<never>> => {
      const given = parse(search, call.parameters);
      const similarity = given.similarity_threshold ?? defaultSimilarity;
      const keysOf = async (type: ComponentQuery["type"]): Promise<readonly string[]> => {
        const { items } = await find({ ...given, query: withoutStopWords(given.query), type, similarity, keyed: true }, call, context);
        return items.flatMap(({ definition }) => definition.key ?? []);
      };
      const [sources, actions] = await Promise.all([keysOf("source"), keysOf("action")]);
      return { status: 200, json: { sources, actions } };
    },
    searchDetails: async (call: Call) => {
      const given = parse(detailedSearch, call.parameters);
      return pageOf(await find({ ...given, similarity: given.similarity_threshold ?? 1 }, call, context), false);
    },
    registry: async () => pageOf({ items: [...registry.values()], total: registry.size }, false),
    published: async (call: Call) => {
      const key = pathOf(call, "key");
      const { version } = parse(selection, call.parameters);
      const found = registry.get(key);
      if (found === undefined)
        throw new NotFound(
          `record not found: the registry has no component '${key.slice(0, 80)}'${suggestion(key, [...registry.keys()], ": GET /v1/components/registry lists what it has")}`,
        );
      if (version !== undefined && version !== "" && version !== found.definition.version)
        throw new NotFound(
          `the registry has version ${found.definition.version ?? ""} of ${key}, but not version '${version.slice(0, 80)}'`,
        );
      return ok(publishedComponentResponse(found));
    },
  };
}

const nothing: ListedComponents = { items: [], total: 0 };

/** Returns the query unchanged if it consists of stop words. */
function withoutStopWords(query: string): string {
  const words = query.split(/\s+/).filter((word) => !stopWords.has(word.toLowerCase()));
  return words.length === 0 ? query : words.join(" ");
}

type Search = Pick<z.output<typeof detailedSearch>, "query" | "app" | "type" | "limit"> & Pick<ComponentQuery, "similarity" | "keyed">;

/** Searches the components that the caller can deploy. */
async function find({ query, limit, ...filter }: Search, call: Call, context: ApiContext): Promise<ListedComponents> {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return context.ports.library.search({
    ...filter,
    words: words.slice(0, maxWords),
    limit: parseLimit(limit),
    namespaces: await namespacesOf(call, context),
    published: [...context.registry.values()],
  });
}

/** All components with the key of the component in the path, of the same owner. */
async function listVersions(call: Call, request: PageRequest, context: ApiContext) {
  const { metadata } = await componentOf(call, context);
  const keyLabel = metadata.labels[labels.componentKey];
  if (keyLabel === undefined) throw new NotFound("the component has no key, so it has no other versions");
  return pageOf(await context.ports.library.listPage({ namespace: metadata.namespace, keyLabel }, request));
}

/** The namespace of `org_id`, or those of the user and their organizations, in this order. */
async function namespacesOf(call: Call, { access, ports }: ApiContext): Promise<readonly string[]> {
  const named = await access.owner(call);
  const owners = named === call.user.id ? await access.ownersOf(call.user) : [named];
  const namespaces = await Promise.all(owners.map((owner) => ports.owners.find(owner)));
  return namespaces.filter((namespace) => namespace !== undefined);
}

/** Searches are sorted by relevance and have no cursors, because positions in them are not stable. */
function pageOf({ items, total }: ListedComponents, hasCursors = true): Reply<readonly Answered<typeof listedComponentSchema>[]> {
  const page_info = pageInfo(hasCursors ? items.map(({ id }: ListedComponent) => id) : [], total);
  return { status: 200, body: { page_info: { ...page_info, count: items.length }, data: items.map(listedComponentResponse) } };
}
