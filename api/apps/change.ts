import { appKind, type AppResource } from "../../crds/app.ts";
import type { FoundApp } from "../../crds/app-library.ts";
import { labels } from "../../crds/resource.ts";
import { appLabelOf } from "../../crds/account.ts";
import { Conflict, Forbidden } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { changeResource, unlessDeleted } from "../resources/change.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import type { ApiContext } from "../context.ts";
import type { AppChanges, AppFields } from "./request.ts";
import { changedApp, emptyApp } from "./spec.ts";

/** @throws Conflict when the owner has an app with the slug */
export async function createApp(
  { name_slug: slug, ...fields }: AppFields,
  owner: string,
  { apps, ports }: ApiContext,
): Promise<AppResource> {
  const spec = changedApp(emptyApp(slug), fields);
  const namespace = await ports.owners.ensure(owner);
  const existing = (await apps.list(namespace)).find((app) => app.slug === slug && app.resource?.metadata.namespace === namespace);
  if (existing !== undefined)
    throw new Conflict(`you have an app '${slug}' already: change it with PUT /v1/apps/${slug}, or choose another name_slug`, {
      code: "already_exists",
    });
  const id = newId("app", ports.randomBytes);
  const created = await ports.store.create(appKind, {
    name: resourceNameOf(id),
    namespace,
    labels: { [labels.id]: id, [labels.owner]: owner, [labels.app]: appLabelOf(slug) },
    spec,
  });
  await confirmOwned(appKind, created, owner, ports);
  return created;
}

export const updateApp = (app: AppResource, changes: AppChanges, { ports }: ApiContext): Promise<AppResource> =>
  changeResource(appKind, ports.store, app, ({ spec }) => changedApp(spec, changes));

export const deleteApp = ({ metadata: { namespace, name } }: AppResource, { ports }: ApiContext): Promise<void> =>
  unlessDeleted(ports.store.delete(appKind, namespace, name));

/** The resource of an app that the owner of the namespace may change. @throws Forbidden for an app of the installation */
export function changeable({ slug, resource }: FoundApp, namespace: string | undefined): AppResource {
  if (resource !== undefined && resource.metadata.namespace === namespace) return resource;
  throw new Forbidden(`the app '${slug}' belongs to the installation: POST /v1/apps with the same name_slug replaces it for you`);
}
