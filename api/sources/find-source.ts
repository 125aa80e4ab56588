import { sourceKind } from "../../crds/source.ts";
import { NotFound } from "../../domain/errors.ts";
import type { Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { SourceResource } from "../resources/source.ts";
import type { ApiContext } from "../context.ts";

/**
 * Resolves the id or `name_slug` of a source in a path to its id. Slugs are those of the caller, then those of their organizations (with
 * `org_id`, only of that one): what an organization names cannot hide a source of the caller. Other names are returned unchanged, and are
 * not found later.
 * @throws NotFound when several organizations have the slug
 */
export async function sourceIdFor(
  name: string,
  call: Pick<Call, "user" | "parameters">,
  { access, ports }: Pick<ApiContext, "access" | "ports">,
): Promise<string> {
  if (!isSlug(name)) return name;
  const named = await access.owner(call);
  const owned = await idsIn(named, name, ports);
  const found = owned.length > 0 || named !== call.user.id ? owned : await idsOfOrganizations(name, call, { access, ports });
  const [id = name, ...others] = found;
  if (others.length === 0) return id;
  throw new NotFound(`record not found: '${name}' is the name_slug of ${[id, ...others].join(" and of ")}: name the source by its id`);
}

async function idsOfOrganizations(
  slug: string,
  { user }: Pick<Call, "user">,
  { access, ports }: Pick<ApiContext, "access" | "ports">,
): Promise<readonly string[]> {
  const organizations = (await access.ownersOf(user)).filter((owner) => owner !== user.id);
  return (await Promise.all(organizations.map((owner) => idsIn(owner, slug, ports)))).flat();
}

/** Ids have an underscore, which no slug has. */
const isSlug = (name: string): boolean => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 80;

async function idsIn(owner: string, slug: string, { owners, pages }: ApiContext["ports"]): Promise<readonly string[]> {
  const namespace = await owners.find(owner);
  if (namespace === undefined) return [];
  const { items } = await pages.listPage(sourceKind, { namespace, slug }, { limit: 2, cursor: null });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(publicIdOf);
}

/** Finds the source in the path, by id or slug, if the caller may see it. @throws NotFound */
export async function sourceOf(call: Call, context: ApiContext): Promise<SourceResource> {
  return context.access.get(sourceKind, "source", await sourceIdFor(pathOf(call, "id"), call, context), call.user);
}

/** The public id of that source, for its history. @throws NotFound */
export async function sourceIdOf(call: Call, context: ApiContext): Promise<string> {
  const id = await sourceIdFor(pathOf(call, "id"), call, context);
  return publicIdOf(await context.access.getListed(sourceKind, "source", id, call.user));
}
