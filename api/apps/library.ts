import type { FoundApp } from "../../crds/app-library.ts";
import { NotFound } from "../../domain/errors.ts";
import { suggestion } from "../../domain/nearest-name.ts";
import type { Acting } from "../resources/access.ts";
import { derivedId } from "../resources/derived-id.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";

/** The public id of an app. One that comes with Headwater has an id that follows from its slug. */
export const idOfApp = ({ resource, slug }: FoundApp): string => (resource === undefined ? derivedId("app", slug) : publicIdOf(resource));

/** The namespace of the owner on whose behalf the call acts; undefined: the owner has none yet. */
export async function namespaceOf(call: Acting, { access, ports }: Pick<ApiContext, "access" | "ports">): Promise<string | undefined> {
  return ports.owners.find(await access.owner(call));
}

/** The app of a path: by its slug, or its id. @throws NotFound */
export async function getApp(named: string, namespace: string | undefined, { apps }: Pick<ApiContext, "apps">): Promise<FoundApp> {
  const all = await apps.list(namespace);
  const found = all.find((app) => app.slug === named) ?? all.find((app) => idOfApp(app) === named);
  if (found !== undefined) return found;
  const slugs = all.map(({ slug }) => slug);
  throw new NotFound(
    `record not found: there is no app '${named.slice(0, 80)}'${suggestion(named.slice(0, 80), slugs, ": GET /v1/apps?q= searches them, and POST /v1/apps adds one")}`,
  );
}
