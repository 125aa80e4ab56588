import type { z } from "zod";
import { parseLimit } from "../../domain/page.ts";
import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import type { ComponentQuery, ListedComponents } from "../resources/library/ports.ts";
import { defaultSimilarity, type detailedSearch, type search } from "./request.ts";

const maxWords = 20;
/** Stop words: they occur in every description and would raise every similarity. */
const stopWords = new Set("a an and as at by for from i if in is it my of on or that the this to when with".split(" "));

/** Returns keys by type, best first. */
export async function searchKeys(given: z.output<typeof search>, call: Call, context: ApiContext) {
  const { query, similarity_threshold: similarity = defaultSimilarity } = given;
  const keysOf = async (type: ComponentQuery["type"]): Promise<readonly string[]> => {
    const found = await searchComponents({ ...given, query: withoutStopWords(query), type, similarity, keyed: true }, call, context);
    return found.items.flatMap(({ definition }) => definition.key ?? []);
  };
  const [sources, actions] = await Promise.all([keysOf("source"), keysOf("action")]);
  return { sources, actions };
}

/** Returns the query unchanged if it consists of stop words. */
function withoutStopWords(query: string): string {
  const words = query.split(/\s+/).filter((word) => !stopWords.has(word.toLowerCase()));
  return words.length === 0 ? query : words.join(" ");
}

type Search = Pick<z.output<typeof detailedSearch>, "query" | "app" | "type" | "limit"> & Pick<ComponentQuery, "similarity" | "keyed">;

/** Searches the components that the caller can deploy. */
export async function searchComponents(given: Search, call: Call, context: ApiContext): Promise<ListedComponents> {
  const { query, app, type, limit, similarity, keyed } = given;
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return context.ports.library.search({
    app,
    type,
    similarity,
    ...(keyed === undefined ? {} : { keyed }),
    words: words.slice(0, maxWords),
    limit: parseLimit(limit),
    namespaces: await namespacesOf(call, context),
    published: context.registry.own,
  });
}

/** The namespace of `org_id`, or those of the user and their organizations, in this order. */
async function namespacesOf(call: Call, { access, ports }: ApiContext): Promise<readonly string[]> {
  const named = await access.owner(call);
  const owners = named === call.user.id ? await access.ownersOf(call.user) : [named];
  const namespaces = await Promise.all(owners.map((owner) => ports.owners.find(owner)));
  return namespaces.filter((namespace) => namespace !== undefined);
}
